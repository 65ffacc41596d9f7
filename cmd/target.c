/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a command as target: fork now, exec when the events are armed, end it or learn how it ended.
 *
 * A socket pair, closed by exec, holds the child back and brings errno of a failed exec. It knows nothing
 * of events. enable_on_exec counts from the exec that target_go() lets happen.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* pidfd_open(2); glibc 2.36 has a wrapper, older ones do not. */
static int open_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

static size_t read_all(int fd, void *buf, size_t len)
{
	size_t n = 0;

	while (n < len) {
		ssize_t r = read(fd, (char *)buf + n, len - n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		n += (size_t)r;
	}
	return n;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Never returns. Only system calls here: the parent may be a program with locks. */
static void child(int fd, char *const argv[], const struct target_opts *o)
{
	int saved, null;
	char byte;

	/* main() ignores it for its own output; a command in a pipe needs it to end */
	signal(SIGPIPE, SIG_DFL);
	if (o && o->mask)
		sigprocmask(SIG_SETMASK, o->mask, NULL);
	if (read_all(fd, &byte, 1) != 1)
		_exit(0); /* the parent gave up, or died */
	if (o && o->output == TARGET_TO_STDERR)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (o && o->output == TARGET_TO_FD)
		dup2(o->fd, STDOUT_FILENO);
	if (o && o->output == TARGET_TO_NULL) {
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null >= 0)
			dup2(null, STDOUT_FILENO);
	}
	if (o && o->path)
		execv(o->path, argv);
	else
		execvp(argv[0], argv);
	saved = errno;
	send(fd, &saved, sizeof(saved), MSG_NOSIGNAL);
	_exit(saved == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

int target_fork(struct target *t, char *const argv[], const struct target_opts *o,
		struct da_error *err)
{
	int fd[2], saved;

	*t = TARGET_NONE;
	t->name = argv[0];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return da_fail(err, DA_EIO, errno, "cannot start '%s'", argv[0]);
	t->pid = fork();
	saved = errno;
	if (t->pid == 0) {
		/* Otherwise it would hold its own other end open, and outlive a parent that dies. */
		close(fd[0]);
		child(fd[1], argv, o);
	}
	close(fd[1]);
	if (t->pid < 0) {
		t->pid = 0;
		close(fd[0]);
		return da_fail(err, DA_EIO, saved, "cannot start '%s'", argv[0]);
	}
	t->hold_fd = fd[0];
	t->pidfd = open_pidfd(t->pid);
	return 0;
}

int target_go(struct target *t, struct da_error *err)
{
	int sys = 0;
	size_t n;

	if (t->hold_fd < 0)
		return 0;
	if (target_poll(t) || send(t->hold_fd, "", 1, MSG_NOSIGNAL) != 1) {
		close_fd(&t->hold_fd);
		target_wait(t);
		return da_fail(err, DA_EIO, 0, "cannot run '%s': it was killed before it began",
			       t->name);
	}
	n = read_all(t->hold_fd, &sys, sizeof(sys)); /* exec closes the other end */
	close_fd(&t->hold_fd);
	if (n != sizeof(sys))
		return 0;
	target_wait(t);
	return da_fail(err, sys == ENOENT ? DA_ENOENT : DA_EIO, sys, "cannot run '%s'", t->name);
}

static bool reap(struct target *t, int flags)
{
	pid_t r;

	if (t->pid == 0 || t->reaped)
		return true;
	do {
		r = waitpid(t->pid, &t->status, flags);
	} while (r < 0 && errno == EINTR);
	if (r == 0)
		return false;
	/* ECHILD: SIGCHLD is ignored, so the kernel has thrown the status away. */
	if (r < 0)
		t->status = 0;
	t->reaped = true;
	return true;
}

bool target_poll(struct target *t)
{
	return reap(t, WNOHANG);
}

void target_wait(struct target *t)
{
	reap(t, 0);
}

void target_terminate(struct target *t, unsigned grace_ms)
{
	struct pollfd p = {.fd = t->pidfd, .events = POLLIN};
	unsigned waited, step;

	if (t->pid == 0 || target_poll(t))
		return;
	if (t->hold_fd >= 0) { /* never let go: the closed socket ends it */
		close_fd(&t->hold_fd);
		target_wait(t);
		return;
	}
	kill(t->pid, SIGTERM);
	/* A stopped process takes the SIGTERM only when it is continued. */
	kill(t->pid, SIGCONT);
	for (waited = 0; waited < grace_ms && !target_poll(t); waited += step) {
		step = grace_ms - waited < 10 ? grace_ms - waited : 10;
		if (poll(&p, t->pidfd >= 0, (int)step) > 0)
			break;
	}
	if (target_poll(t))
		return;
	kill(t->pid, SIGKILL);
	target_wait(t);
}

void target_release(struct target *t)
{
	bool held = t->hold_fd >= 0;

	close_fd(&t->hold_fd);
	if (held)
		target_wait(t);
	close_fd(&t->pidfd);
}

int target_exit_status(int wait_status)
{
	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : 1;
}
