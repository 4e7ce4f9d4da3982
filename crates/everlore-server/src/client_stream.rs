//! Byte stream of a client, with or without TLS, that gives up on a client that does not read.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Sleep,
};

use crate::connections::Connection;

/// Both directions of a connection. One type for all: hyper's connection is large to compile.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

/// Stream that fails once a write has made no progress for a time, and tells its connection while it waits.
pub(crate) struct ClientStream {
    inner: Box<dyn ByteStream>,
    connection: Arc<Connection>,
    write_timeout: Duration,
    /// Runs while a write waits for the client.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl ClientStream {
    pub(crate) fn new(
        inner: Box<dyn ByteStream>,
        connection: Arc<Connection>,
        write_timeout: Duration,
    ) -> Self {
        Self { inner, connection, write_timeout, deadline: None }
    }

    /// Passes the outcome of a write on, and fails one that waits for too long.
    fn timed<T>(
        &mut self,
        cx: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            if self.deadline.take().is_some() {
                self.connection.set_write_blocked(false);
            }
            return outcome;
        }
        if self.deadline.is_none() {
            self.connection.set_write_blocked(true);
        }
        let timeout = self.write_timeout;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        let too_slow =
            |()| Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read"));
        deadline.as_mut().poll(cx).map(too_slow)
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.inner).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut *self.inner).poll_write(cx, bytes);
        self.timed(cx, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut *self.inner).poll_write_vectored(cx, slices);
        self.timed(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut *self.inner).poll_flush(cx);
        self.timed(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut *self.inner).poll_shutdown(cx);
        self.timed(cx, outcome)
    }
}
