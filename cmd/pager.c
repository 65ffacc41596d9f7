/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Running a pager on standard output (pager.h).
 */
#include "pager.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

bool pager_terminal(unsigned *columns, unsigned *rows)
{
	struct winsize ws;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_col)
		return false;
	*columns = ws.ws_col;
	*rows = ws.ws_row;
	return true;
}

static bool installed(const char *name)
{
	const char *path = getenv("PATH");
	char file[512];

	while (path && *path) {
		size_t len = strcspn(path, ":");
		int n = snprintf(file, sizeof(file), "%.*s/%s", (int)(len < 400 ? len : 0), path,
				 name);

		if (n > 0 && (size_t)n < sizeof(file) && !access(file, X_OK))
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

static const char *wanted(void)
{
	const char *pager = getenv("PAGER");

	if (!pager)
		return installed("less") ? "less" : NULL;
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}

void pager_start(struct pager *p)
{
	const char *command = isatty(STDOUT_FILENO) ? wanted() : NULL;
	int fd[2];

	*p = (struct pager){.f = stdout};
	if (!command || pipe(fd))
		return;
	fflush(stdout);
	p->pid = fork();
	if (p->pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		dup2(fd[0], STDIN_FILENO);
		close(fd[0]);
		close(fd[1]);
		setenv("LESS", "FRX",
		       0); /* one screen: no pager; colours as they are; leave the screen */
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(fd[0]);
	p->f = p->pid > 0 ? fdopen(fd[1], "w") : NULL;
	if (!p->f) {
		close(fd[1]);
		if (p->pid > 0)
			waitpid(p->pid, NULL, 0);
		*p = (struct pager){.f = stdout};
		return;
	}
	signal(SIGINT, SIG_IGN); /* it is the pager's: we end when it does */
}

bool pager_end(struct pager *p)
{
	bool failed;

	if (!p->pid)
		return !ferror(p->f);
	/* A pager that was left early closed its end of the pipe: EPIPE is no failure. */
	failed = fclose(p->f) && errno != EPIPE;
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
	return !failed;
}

bool pager_text(const char *text, size_t len)
{
	struct pager p = {.f = stdout};
	unsigned columns, rows;
	size_t lines = 0, i;

	for (i = 0; i < len; i++)
		lines += text[i] == '\n';
	if (pager_terminal(&columns, &rows) && lines >= rows)
		pager_start(&p);
	fwrite(text, 1, len, p.f);
	return pager_end(&p);
}
