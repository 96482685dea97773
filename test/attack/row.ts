import type { Client } from '@baton/client';
import type { Fleet } from '../harness/fleet';
import type { Account } from '../harness/processes';

/** Where an attack is played: a fresh standalone of root or of an ordinary user, or the services. */
export const modes = ['standalone', 'ordinary user', 'services'] as const;
export type Mode = (typeof modes)[number];

export interface Login {
  name: string;
  password: string;
  tenant: string;
}

/** A fresh manager, and who attacks it. */
export interface Rig {
  fleet: Fleet;
  mode: Mode;
  /** The bundles that it runs from. */
  dist: string;
  /** Who it runs as where that is not who runs the tests. */
  account: Account | undefined;
  /** Folder of its worker. */
  workDir: string;
  /** A user of a tenant of its own, without other rights. */
  user: Login;
  /** A user of another tenant, which has the secret `theirs`. */
  victim: Login;
  /** The value of that secret. */
  secret: string;
  clientOf(login: Login): Client;
  /** The administrator, in the tenant of `user`. */
  admin: Client;
  /** One call as somebody; the status and the body as text. */
  ask(path: string, as?: Login, init?: RequestInit): Promise<{ status: number; text: string }>;
  /** Runs scripts, each as an operation of a blueprint that `user` uploads; answers what each has printed. */
  operations(
    scripts: Record<string, string>,
    o?: { startedBy?: Client },
  ): Promise<{ status: string; printed: Record<string, string> }>;
  /** What the worker says that it cannot hold operations to. */
  notEnforced(): Promise<readonly string[]>;
}

export interface Outcome {
  isHeld: boolean;
  happened: string;
  /** It is open, and the product says so itself: in what the worker tells, or in docs/SECURITY.md. */
  isAdmitted?: boolean;
}

/** An attack: what is tried, and whether the manager holds. */
export interface Row {
  /** Of the table that the attacks are known by; or S17 and what is tried. */
  name: string;
  title: string;
  modes: readonly Mode[];
  /** @throws Error when the attack, or the honest call beside it, could not be played: then nothing is shown. */
  run(rig: Rig): Promise<Outcome>;
}

/** The attack could not be made: neither held nor not. @throws Error always */
export function unplayed(why: string): never {
  throw new Error(why);
}

/** The honest call beside an attack. @throws Error when that fails: what is refused then says nothing. */
export function control(isGood: boolean, what: string): void {
  if (!isGood) unplayed(`the control failed: ${what}`);
}

export const held = (isHeld: boolean, happened: string): Outcome => ({ isHeld, happened });

/** As `held`; what is open is no failure where `admission` says that it is. */
export const heldOrAdmitted = (isHeld: boolean, happened: string, admission: boolean): Outcome => ({
  isHeld,
  happened,
  isAdmitted: !isHeld && admission,
});
