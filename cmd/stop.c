/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stop signals through signalfd(2). What a signal means is the command's business; this only says that one
 * came.
 */
#include "stop.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

int stop_open(struct stop *s, bool looks)
{
	struct sigaction sa;
	sigset_t set;
	size_t i;
	int saved;

	s->sig = 0;
	s->look = false;
	sigemptyset(&set);
	if (looks)
		sigaddset(&set, SIGUSR2);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &sa) && sa.sa_handler != SIG_IGN)
			sigaddset(&set, signals[i]);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0)
		return -errno;
	if (sigprocmask(SIG_BLOCK, &set, &s->old)) {
		saved = errno;
		close(s->fd);
		s->fd = -1;
		return -saved;
	}
	return 0;
}

bool stop_asked(struct stop *s)
{
	struct signalfd_siginfo si;

	while (!s->sig && s->fd >= 0 && read(s->fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGUSR2)
			s->look = true;
		else
			s->sig = (int)si.ssi_signo;
	}
	return s->sig != 0;
}

void stop_close(struct stop *s)
{
	if (s->fd < 0)
		return;
	sigprocmask(SIG_SETMASK, &s->old, NULL);
	close(s->fd);
	s->fd = -1;
}
