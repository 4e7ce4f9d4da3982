//! Metrics in the Prometheus text format.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{
        Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use crate::lock;

/// Upper bounds of the latency histogram in seconds: from a lookup to what a person notices.
const LATENCY_BUCKETS: [f64; 8] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0];

/// Counters of the server.
#[derive(Default)]
pub(crate) struct Metrics {
    routes: Mutex<BTreeMap<(String, String), RouteMetrics>>,
    in_flight: AtomicI64,
    prompts: Mutex<PromptMetrics>,
}

/// Bytes of prompts that the proxy forwarded.
#[derive(Default)]
struct PromptMetrics {
    prefix_bytes: u64,
    changed_bytes: u64,
    added_bytes: u64,
}

/// Counters of one route and method.
#[derive(Default)]
struct RouteMetrics {
    by_status: BTreeMap<u16, u64>,
    /// Requests by latency bucket; the last bucket is above all bounds.
    buckets: [u64; LATENCY_BUCKETS.len() + 1],
    total_seconds: f64,
}

impl Metrics {
    /// Counts a request as in flight until the guard is dropped.
    pub(crate) fn start_request(&self) -> InFlightGuard<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlightGuard(&self.in_flight)
    }

    /// Records the outcome of a request.
    pub(crate) fn finish_request(&self, method: &str, route: &str, status: u16, latency: Duration) {
        let mut routes = lock(&self.routes);
        let route = routes.entry((route.to_owned(), method.to_owned())).or_default();
        let seconds = latency.as_secs_f64();
        *route.by_status.entry(status).or_default() += 1;
        route.buckets[LATENCY_BUCKETS.partition_point(|bound| *bound < seconds)] += 1;
        route.total_seconds += seconds;
    }

    /// Records a forwarded prompt: bytes before the injected block, bytes of the previous turn that changed, injected
    /// bytes.
    #[cfg(feature = "remote")]
    pub(crate) fn record_prompt(&self, stable: usize, changed: usize, added: usize) {
        let mut prompts = lock(&self.prompts);
        prompts.prefix_bytes += stable as u64;
        prompts.changed_bytes += changed as u64;
        prompts.added_bytes += added as u64;
    }

    fn render_prompts(&self) -> String {
        let prompts = lock(&self.prompts);
        let figures = [
            ("prefix_bytes", "Bytes forwarded before the injected block.", prompts.prefix_bytes),
            (
                "prefix_changed_bytes",
                "Bytes of the previous turn that a provider's cache could not reuse.",
                prompts.changed_bytes,
            ),
            ("added_bytes", "Bytes of injected blocks.", prompts.added_bytes),
        ];
        let text = figures.map(|(name, help, value)| {
            let name = format!("everlore_prompt_{name}_total");
            format!("# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}\n")
        });
        text.concat()
    }

    /// Renders all metrics as text.
    pub(crate) fn render(&self, uptime: Duration) -> String {
        let routes = lock(&self.routes);
        let mut text = format!(
            "# HELP everlore_up_seconds Seconds since the start of the server.\n# TYPE everlore_up_seconds gauge\neverlore_up_seconds {}\n\
             # HELP everlore_requests_under_way Requests in flight.\n# TYPE everlore_requests_under_way gauge\neverlore_requests_under_way {}\n\
             # HELP everlore_requests_total Answered requests.\n# TYPE everlore_requests_total counter\n",
            uptime.as_secs(),
            self.in_flight.load(Ordering::Relaxed)
        );
        for ((route, method), route_metrics) in routes.iter() {
            for (status, count) in &route_metrics.by_status {
                render_sample(
                    &mut text,
                    "everlore_requests_total",
                    &format!("route=\"{route}\",method=\"{method}\",status=\"{status}\""),
                    *count as f64,
                );
            }
        }
        text += "# HELP everlore_request_seconds Latency of requests.\n# TYPE everlore_request_seconds histogram\n";
        for ((route, method), route_metrics) in routes.iter() {
            render_histogram(
                &mut text,
                &format!("route=\"{route}\",method=\"{method}\""),
                route_metrics,
            );
        }
        text + &self.render_prompts()
    }
}

/// Request in flight.
pub(crate) struct InFlightGuard<'a>(&'a AtomicI64);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn render_histogram(text: &mut String, labels: &str, route: &RouteMetrics) {
    let mut cumulative = 0;
    let bounds = LATENCY_BUCKETS.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
    for (bound, count) in bounds.zip(route.buckets) {
        cumulative += count;
        render_sample(
            text,
            "everlore_request_seconds_bucket",
            &format!("{labels},le=\"{bound}\""),
            cumulative as f64,
        );
    }
    render_sample(text, "everlore_request_seconds_sum", labels, route.total_seconds);
    render_sample(text, "everlore_request_seconds_count", labels, cumulative as f64);
}

fn render_sample(text: &mut String, name: &str, labels: &str, value: f64) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{name}{{{labels}}} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_route_status_and_latency() {
        let metrics = Metrics::default();
        for millis in [0, 3, 7_000] {
            let _under_way = metrics.start_request();
            metrics.finish_request("GET", "/v1/stats", 200, Duration::from_millis(millis));
        }
        let text = metrics.render(Duration::from_secs(9));
        let labels = "route=\"/v1/stats\",method=\"GET\"";
        for expected in [
            "everlore_up_seconds 9".to_owned(),
            "everlore_requests_under_way 0".to_owned(),
            format!("everlore_requests_total{{{labels},status=\"200\"}} 3"),
            format!("everlore_request_seconds_bucket{{{labels},le=\"0.001\"}} 1"),
            format!("everlore_request_seconds_bucket{{{labels},le=\"5\"}} 2"),
            format!("everlore_request_seconds_bucket{{{labels},le=\"+Inf\"}} 3"),
            format!("everlore_request_seconds_sum{{{labels}}} 7.003"),
        ] {
            assert!(text.lines().any(|line| line == expected), "{expected} is not in\n{text}");
        }
    }
}
