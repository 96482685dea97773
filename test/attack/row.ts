import type { Client } from '@baton/client';
import type { Fleet } from '../harness/fleet';
import type { Account } from '../harness/processes';

/** Where an attack is played: a new standalone of root or of an ordinary user, or the services. */
export const modes = ['standalone', 'ordinary user', 'services'] as const;
export type Mode = (typeof modes)[number];

export interface Login {
  name: string;
  password: string;
  tenant: string;
}

/** A new manager, and the attacker's access to it. */
export interface Rig {
  fleet: Fleet;
  mode: Mode;
  /** The bundles that the manager runs from. */
  dist: string;
  /** The account of the manager, if it differs from the account of the tests. */
  account: Account | undefined;
  /** Folder of the manager's worker. */
  workDir: string;
  /** The attacker: a user of its own tenant, without other rights. */
  user: Login;
  /** A user of another tenant, which owns the secret `theirs`. */
  victim: Login;
  /** The value of the secret `theirs`. */
  secret: string;
  clientOf(login: Login): Client;
  /** The administrator, in the tenant of `user`. */
  admin: Client;
  /** Sends one request as the given user; returns the status and the body as text. */
  ask(path: string, as?: Login, init?: RequestInit): Promise<{ status: number; text: string }>;
  /** Runs scripts, each as an operation of a blueprint that `user` uploads. Returns the output of each script. */
  operations(
    scripts: Record<string, string>,
    o?: { startedBy?: Client },
  ): Promise<{ status: string; printed: Record<string, string> }>;
  /** Returns the restrictions that the worker reports as not enforced. */
  notEnforced(): Promise<readonly string[]>;
}

export interface Outcome {
  isHeld: boolean;
  happened: string;
  /** The attack is open, and the product says so itself: in the worker's report, or in docs/SECURITY.md. */
  isAdmitted?: boolean;
}

/** An attack: tries it, and tells whether the manager resists. */
export interface Row {
  /** Number in the table of known attacks; or S17 and the name of the attempt. */
  name: string;
  title: string;
  modes: readonly Mode[];
  /**
   * Plays the attack. @throws Error when the attack, or the honest call beside it, could not be played: then the result shows
   * nothing
   */
  run(rig: Rig): Promise<Outcome>;
}

/** The attack could not be played: the result is neither "held" nor "open". @throws Error always */
export function unplayed(why: string): never {
  throw new Error(why);
}

/** Checks the honest call beside an attack. @throws Error when it failed: then a refusal of the attack shows nothing */
export function control(isGood: boolean, what: string): void {
  if (!isGood) unplayed(`the control failed: ${what}`);
}

export const held = (isHeld: boolean, happened: string): Outcome => ({ isHeld, happened });

/** Like `held`; an open attack is no failure when `admission` says so. */
export const heldOrAdmitted = (isHeld: boolean, happened: string, admission: boolean): Outcome => ({
  isHeld,
  happened,
  isAdmitted: !isHeld && admission,
});
