//! Translations: Chinese phrases of system programs in the English of the same program, so that wordings compare.

/// Writes the known Chinese phrases of `text` in English; other words stay.
pub(super) fn to_english(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    PHRASES.iter().fold(text.to_owned(), |text, (chinese, english)| {
        if text.contains(chinese) { text.replace(chinese, &format!(" {english} ")) } else { text }
    })
}

/// Phrases as the programs' own catalogues translate them, the longer before the shorter that they contain.
const PHRASES: [(&str, &str); 88] = [
    // C library.
    ("没有那个文件或目录", "no such file or directory"),
    ("权限不够", "permission denied"),
    ("不允许的操作", "operation not permitted"),
    ("设备上没有空间", "no space left on device"),
    ("超出磁盘限额", "disk quota exceeded"),
    ("只读文件系统", "read-only file system"),
    ("打开的文件过多", "too many open files"),
    ("无法分配内存", "cannot allocate memory"),
    ("文件已存在", "file exists"),
    ("是一个目录", "is a directory"),
    ("不是目录", "not a directory"),
    ("目录非空", "directory not empty"),
    ("设备或资源忙", "device or resource busy"),
    ("参数列表过长", "argument list too long"),
    ("文件名过长", "file name too long"),
    ("断开的管道", "broken pipe"),
    ("输入/输出错误", "input/output error"),
    ("无效的参数", "invalid argument"),
    ("资源暂时不可用", "resource temporarily unavailable"),
    ("地址已在使用", "address already in use"),
    ("拒绝连接", "connection refused"),
    ("连接超时", "connection timed out"),
    ("连接被对方重设", "connection reset by peer"),
    ("没有到主机的路由", "no route to host"),
    ("网络不可达", "network is unreachable"),
    ("未知的名称或服务", "name or service not known"),
    ("域名解析暂时失败", "temporary failure in name resolution"),
    ("可执行文件格式错误", "exec format error"),
    ("文本文件忙", "text file busy"),
    ("段错误", "segmentation fault"),
    ("核心已转储", "core dumped"),
    ("没有那个进程", "no such process"),
    ("被中断的系统调用", "interrupted system call"),
    ("已杀死", "killed"),
    // Core utilities and shells.
    ("无法创建普通文件", "cannot create regular file"),
    ("无法创建目录", "cannot create directory"),
    ("无法创建", "cannot create"),
    ("无法打开共享对象文件", "cannot open shared object file"),
    ("无法打开", "cannot open"),
    ("无法访问", "cannot access"),
    ("无法删除", "cannot remove"),
    ("无法移动", "cannot move"),
    ("无法获取", "cannot stat"),
    ("未找到命令", "command not found"),
    ("解释器错误", "bad interpreter"),
    ("未预期的符号", "syntax error near unexpected token"),
    ("未绑定的变量", "unbound variable"),
    ("写入错误", "write error"),
    ("缺少操作对象", "missing operand"),
    // git.
    ("不是 git 仓库", "not a git repository"),
    ("推送一些引用到", "failed to push some refs to"),
    ("合并冲突于", "merge conflict in"),
    ("自动合并失败", "automatic merge failed"),
    ("拒绝合并无关的历史", "refusing to merge unrelated histories"),
    ("无法读取远程仓库", "could not read from remote repository"),
    ("身份验证失败", "authentication failed"),
    ("没有对应的上游分支", "has no upstream branch"),
    ("您当前不在一个分支上", "you are not currently on a branch"),
    ("未匹配任何 git 已知文件", "did not match any file(s) known to git"),
    ("无法访问远程", "unable to access"),
    // gcc, ld, make.
    ("未定义的引用", "undefined reference to"),
    ("多重定义", "multiple definition of"),
    ("隐式声明函数", "implicit declaration of function"),
    ("未声明", "undeclared"),
    ("编译中断", "compilation terminated"),
    ("没有规则可制作目标", "no rule to make target"),
    ("缺失分隔符", "missing separator"),
    ("找不到", "cannot find"),
    ("返回", "returned"),
    ("停止", "stop"),
    // psql and PostgreSQL.
    ("重复键违反唯一约束", "duplicate key value violates unique constraint"),
    ("违反外键约束", "violates foreign key constraint"),
    ("违反了非空约束", "violates not-null constraint"),
    ("违反检查约束", "violates check constraint"),
    ("语法错误", "syntax error"),
    ("检测到死锁", "deadlock detected"),
    ("已经存在", "already exists"),
    ("不存在", "does not exist"),
    ("认证失败", "authentication failed"),
    ("数据库", "database"),
    // Windows.
    ("拒绝访问", "access is denied"),
    ("系统找不到指定的文件", "the system cannot find the file specified"),
    ("系统找不到指定的路径", "the system cannot find the path specified"),
    ("不是内部或外部命令", "is not recognized as an internal or external command"),
    // Labels.
    ("致命错误", "fatal"),
    ("错误", "error"),
    ("警告", "warning"),
    ("失败", "failed"),
];

#[cfg(test)]
mod tests {
    use super::to_english;

    fn words(text: &str) -> String {
        to_english(text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn localized_messages_read_like_the_english_ones() {
        assert_eq!(
            words("cp: 无法创建普通文件'a': 权限不够"),
            "cp: cannot create regular file 'a': permission denied"
        );
        assert_eq!(words("plain text"), "plain text");
    }
}
