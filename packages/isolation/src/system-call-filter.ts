/**
 * A filter of system calls (seccomp BPF) in the format that bubblewrap loads. It answers EPERM for calls that programs
 * of operations do not need and for calls that attacks on the kernel have used; all other calls are allowed. The
 * numbers are those of the kernel's tables.
 */

interface Machine {
  /** AUDIT_ARCH of linux/audit.h. */
  arch: number;
  clone: number;
  denied: readonly number[];
}

/** mount API, io_uring, pidfd_getfd: the same numbers on every architecture. */
const DENIED_EVERYWHERE = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442];
const CLONE3 = 435;
const CLONE_NEWUSER = 0x1000_0000;

/** [name, x86_64, aarch64] */
const DENIED: readonly (readonly [string, number, number])[] = [
  ['ptrace', 101, 117],
  ['process_vm_readv', 310, 270],
  ['process_vm_writev', 311, 271],
  ['kcmp', 312, 272],
  ['mount', 165, 40],
  ['umount2', 166, 39],
  ['pivot_root', 155, 41],
  ['unshare', 272, 97],
  ['setns', 308, 268],
  ['keyctl', 250, 219],
  ['add_key', 248, 217],
  ['request_key', 249, 218],
  ['bpf', 321, 280],
  ['perf_event_open', 298, 241],
  ['userfaultfd', 323, 282],
  ['open_by_handle_at', 304, 265],
  ['kexec_load', 246, 104],
  ['kexec_file_load', 320, 294],
  ['init_module', 175, 105],
  ['finit_module', 313, 273],
  ['delete_module', 176, 106],
  ['reboot', 169, 142],
  ['swapon', 167, 224],
  ['swapoff', 168, 225],
  ['acct', 163, 89],
  ['quotactl', 179, 60],
  ['syslog', 103, 116],
];

const MACHINES: Record<string, Machine> = {
  x64: { arch: 0xc000_003e, clone: 56, denied: DENIED.map(([, number]) => number) },
  arm64: { arch: 0xc000_00b7, clone: 220, denied: DENIED.map(([, , number]) => number) },
};

// linux/bpf_common.h, linux/seccomp.h
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_BITS = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const errno = (code: number): number => 0x0005_0000 | code;
const EPERM = 1;
const ENOSYS = 38;
/** Offsets in struct seccomp_data. */
const NUMBER = 0;
const ARCH = 4;
const FIRST_ARGUMENT = 16;
/** Calls of the x32 ABI begin here. */
const X32 = 0x4000_0000;

/** Returns the filter for a machine, named as Node names it; null: there is no filter for it. */
export function systemCallFilter(machine: string): Buffer | null {
  const known = MACHINES[machine];
  if (!known) return null;
  const program: [code: number, jt: number, jf: number, k: number][] = [];
  /** When the test holds, the call ends with this error code. */
  const answer = (test: number, k: number, code: number): void => {
    program.push([test, 0, 1, k], [RETURN, 0, 0, errno(code)]);
  };
  // Programs for another architecture of the same machine use other call numbers.
  program.push([LOAD, 0, 0, ARCH], [IF_EQUAL, 1, 0, known.arch], [RETURN, 0, 0, errno(ENOSYS)]);
  program.push([LOAD, 0, 0, NUMBER]);
  if (machine === 'x64') answer(IF_AT_LEAST, X32, ENOSYS);
  for (const number of [...known.denied, ...DENIED_EVERYWHERE]) answer(IF_EQUAL, number, EPERM);
  // The flags of clone3 lie in memory, which a filter cannot read. C libraries then fall back to clone, which the
  // filter checks.
  answer(IF_EQUAL, CLONE3, ENOSYS);
  program.push([IF_EQUAL, 0, 3, known.clone], [LOAD, 0, 0, FIRST_ARGUMENT]);
  answer(IF_BITS, CLONE_NEWUSER, EPERM);
  program.push([RETURN, 0, 0, ALLOW]);
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, jt, jf, k], at) => {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(jt, at * 8 + 2);
    bytes.writeUInt8(jf, at * 8 + 3);
    bytes.writeUInt32LE(k, at * 8 + 4);
  });
  return bytes;
}
