import type { Fleet, Mode } from '../harness/fleet';

/** A fresh manager, and who attacks it. */
export interface Rig {
  fleet: Fleet;
  mode: Mode;
  /** A user of a tenant of its own, without other rights. */
  user: { name: string; password: string; tenant: string };
  /** One call as somebody; the status and the body as text. */
  ask(path: string, as?: Login, init?: RequestInit): Promise<{ status: number; text: string }>;
  /** Runs a shell script as an operation of a blueprint that `user` uploads; answers what it logged. */
  operation(script: string): Promise<string>;
}

export interface Login {
  name: string;
  password: string;
  tenant: string;
}

export interface Outcome {
  isHeld: boolean;
  happened: string;
}

/** A row of the table: what was tried, and whether the manager holds. */
export interface Row {
  number: number;
  title: string;
  modes: readonly Mode[];
  run(rig: Rig): Promise<Outcome>;
}
