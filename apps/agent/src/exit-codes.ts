/** Exit codes of `baton-agent`, for people, service managers and the install script. */
export const exitCodes = {
  ok: 0,
  /** A fault of the program. */
  failed: 1,
  /** An unknown command or option. */
  usage: 2,
  /** agent.json is missing or wrong. */
  config: 3,
  /** There is no key or certificate: `enrol` comes first. */
  notEnrolled: 4,
  /** Another process of this agent is at work. */
  inUse: 5,
  /** The manager refuses the token or the certificate. */
  refused: 40,
  /** No address of the manager answers. */
  unreachable: 41,
  /** The self-test found a fault. */
  unfit: 6,
  /** The folder of the agent cannot be read or written. */
  disk: 7,
  /** Start me again: another version or other settings wait. EX_TEMPFAIL of sysexits. */
  again: 75,
} as const;

/** A failure that a command ends with: one line for people, and the exit code. */
export class AgentFailure extends Error {
  constructor(
    readonly exit: number,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'AgentFailure';
  }
}
