# SPDX-License-Identifier: GPL-2.0-only
#
# twin.py IN OUT [32]: a recording of this (little-endian) machine as one of the other byte order would have
# written it; 32: with feature bits in words of 32 bits, as a machine whose longs are that short. File or pipe
# form. What is kept of other byte orders by its own rules (tracing data, raw samples, traces) stays as it is. It
# knows the format by itself and refuses what it does not know.
import struct
import sys

IDENTIFIER, IP, TID, TIME, ADDR, READ, CALLCHAIN = 1 << 16, 1, 2, 4, 8, 16, 32
ID, CPU, PERIOD, STREAM, RAW = 64, 128, 256, 512, 1024

words32 = len(sys.argv) > 3
src = open(sys.argv[1], "rb").read()
out = bytearray(src)
events = {}  # id -> (sample_type, sample_id_all)
first = None


def swap(at, *sizes):
	"""Swaps numbers of these sizes, one behind the other; 0: a byte that stays. Returns the end."""
	for n in sizes:
		out[at:at + max(n, 1)] = out[at:at + max(n, 1)][::-1]
		at += max(n, 1)
	return at


def get(fmt, at):
	return struct.unpack_from("<" + fmt, src, at)


def words(at, end, size=8):
	while at + size <= end:
		at = swap(at, size)
	return at


def string(at):
	return swap(at, 4) + get("I", at)[0]


def strings(at):
	n = get("I", at)[0]
	at = swap(at, 4)
	for _ in range(n):
		at = string(at)
	return at


def mirror(b):
	return int("{:08b}".format(b)[::-1], 2)


def attr(at):
	"""Returns its end, its sample_type and whether other records have a trailer."""
	size = get("I", at + 4)[0]
	kind, flags = get("Q", at + 24)[0], get("Q", at + 40)[0]
	fields = [4, 4, 8, 8, 8, 8, None, 4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2, 2, 4, 4, 8, 8]
	p = at
	for f in fields:
		if p >= at + size:
			break
		if f is None:  # bit-fields
			out[p:p + 8] = bytes(mirror(b) for b in out[p:p + 8])
			p += 8
		else:
			p = swap(p, f)
	return at + size, (kind, bool(flags >> 18 & 1))


def learn(at, end, what):
	global first
	first = first or what
	for p in range(at, end, 8):
		events[get("Q", p)[0]] = what
	words(at, end)


def trailer(at, end, what):
	kind, has = what
	if not has:
		return end
	size = 8 * bin(kind & (TID | TIME | ID | STREAM | CPU | IDENTIFIER)).count("1")
	p = end - size
	for bit, sizes in ((TID, (4, 4)), (TIME, (8,)), (ID, (8,)), (STREAM, (8,)), (CPU, (4, 4)), (IDENTIFIER, (8,))):
		if kind & bit:
			p = swap(p, *sizes)
	return end - size


def sample(at, end):
	kind = first[0]
	if kind & IDENTIFIER:
		kind = events[get("Q", at)[0]][0]
	for bit, sizes in ((IDENTIFIER, (8,)), (IP, (8,)), (TID, (4, 4)), (TIME, (8,)), (ADDR, (8,)), (ID, (8,)), (STREAM, (8,)),
			(CPU, (4, 4)), (PERIOD, (8,))):
		if kind & bit:
			at = swap(at, *sizes)
	if kind & READ:
		sys.exit("samples with READ")
	if kind & CALLCHAIN:
		at = words(at, at + 8 + 8 * get("Q", at)[0])
	if kind & RAW:
		at = swap(at, 4) + get("I", at)[0]
	words(at, end)


def feature(bit, at, end):
	if bit in (3, 4, 5, 6, 8, 9):
		string(at)
	elif bit in (7, 27):
		words(at, end, 4)
	elif bit in (10, 18, 21, 23, 24):
		words(at, end)
	elif bit == 11:
		strings(at)
	elif bit == 12:
		n, size = get("II", at)
		at = swap(at, 4, 4)
		for _ in range(n):
			at, _what = attr(at)
			ids = get("I", at)[0]
			at = string(swap(at, 4))
			at = words(at, at + 8 * ids)
	elif bit == 13:
		words(strings(strings(at)), end, 4)
	elif bit == 14:
		n = get("I", at)[0]
		at = swap(at, 4)
		for _ in range(n):
			at = string(swap(at, 4, 8, 8))
	elif bit == 16:
		n = get("I", at)[0]
		at = swap(at, 4)
		for _ in range(n):
			at = string(swap(at, 4))
	elif bit == 29:
		swap(at, 4, 4, 8, 8)
	elif bit == 2:
		while at < end:
			size = get("H", at + 6)[0]
			swap(at, 4, 2, 2, 4)
			at += size
	elif bit not in (1,):
		sys.exit("feature %d" % bit)


def own(at):
	magic, kind, version, n = get("IHHI", at)
	if magic != 0x444D4E41:
		sys.exit("record of type 65 that is not ours")
	at = swap(at, 4, 2, 2, 4, 4)
	if kind == 3:
		swap(at, 4, 4, 4, 4, 8, 8, 8, 8)
	elif kind == 7:
		for p in range(at, at + n, 32):
			swap(p, 4, 4, 8, 8, 8)


FIXED = {  # fields in front of a string or a trailer
	1: (4, 4, 8, 8, 8), 2: (8, 8), 3: (4, 4), 4: (4, 4, 4, 4, 8), 5: (8, 8, 8), 6: (8, 8, 8), 7: (4, 4, 4, 4, 8),
	11: (8, 8, 8), 12: (4, 4), 13: (8,), 14: (), 15: (4, 4), 17: (8, 4, 2, 2), 18: (2, 2, 4), 19: (8,)}


def record(at):
	kind, misc, size = get("IHH", at)
	swap(at, 4, 2, 2)
	p, end = at + 8, at + size
	if kind == 9:
		sample(p, end)
	elif kind < 64:
		what = first
		if first[1] and first[0] & IDENTIFIER:
			what = events.get(get("Q", end - 8)[0], first)
		end = trailer(p, end, what)
		if kind == 10:
			swap(p, 4, 4, 8, 8, 8, *((4, 4, 8, 8) if not misc >> 14 & 1 else (0,) * 24), 4, 4)
		elif kind in FIXED:
			swap(p, *FIXED[kind])
		else:
			sys.exit("record of type %d" % kind)
	elif kind == 64:
		p, what = attr(p)
		learn(p, end, what)
	elif kind == 65:
		own(p)
	elif kind == 66:
		return end + get("I", p)[0] if swap(p, 4) else 0
	elif kind == 70:
		words(swap(p, 4, 4), end)
	elif kind == 71:
		more = get("Q", p)[0]
		swap(p, 8, 8, 8, 4, 4, 4, 4)
		return end + more
	elif kind == 78:
		what = get("Q", p)[0]
		swap(p, 8, 8)
		if what not in (0, 1, 2):
			sys.exit("update %d" % what)
		if what == 1:
			swap(p + 16, 8)
	elif kind == 79:
		words(p, end)
	elif kind == 80:
		bit = get("Q", p)[0]
		feature(bit, swap(p, 8), end)
	elif kind not in (68, 82):
		sys.exit("record of type %d" % kind)
	return at + size


def records(at, end):
	while at < end:
		at = record(at)


def whole_file():
	_, asize, aat, alen, dat, dlen, _, _ = get("8Q", 8)
	words(8, 72)
	bitmap = src[72:104]
	words(72, 104, 4 if words32 else 8)
	for at in range(aat, aat + alen, asize):
		_, what = attr(at)
		ids, n = get("QQ", at + asize - 16)
		words(at + asize - 16, at + asize)
		learn(ids, ids + n, what)
	records(dat, dat + dlen)
	at = dat + dlen
	for bit in range(256):
		if bitmap[bit // 8] >> bit % 8 & 1:
			where, size = get("QQ", at)
			at = words(at, at + 16)
			feature(bit, where, where + size)


swap(0, 8)
if get("Q", 8)[0] == 16:
	swap(8, 8)
	records(16, len(src))
else:
	whole_file()
open(sys.argv[2], "wb").write(out)
