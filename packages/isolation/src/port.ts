import type { Endpoint } from './egress/endpoints';

/** User and group that the processes of a tenant's operations run as. */
export interface Account {
  uid: number;
  gid: number;
}

export type IsolationName = 'bubblewrap' | 'namespaces' | 'uid' | 'none';

/** A program to be started for an operation. */
export interface Command {
  program: string;
  args: readonly string[];
  /** Folder as the program sees it. */
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** What belongs to one operation; everything else of the worker's machine is the system's or hidden. */
export interface Confinement {
  tenant: string;
  /** Folder that becomes its /tmp; inside one of `writable`. */
  tmp: string;
  /** Folders that it may change: that of its run, the copy of its deployment's working folder. */
  writable: readonly string[];
  /** Folders that it may read besides: a plugin's environment, our own assets. */
  readable: readonly string[];
}

/** What is really started. */
export interface Launch {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Who starts it; null: the worker's own account. */
  account: Account | null;
  /** Files that are opened for reading and given as descriptors from 3 on. */
  descriptors: readonly string[];
  /**
   * The control group that its first process joins, through the descriptor behind those; the starter ends it. Null: there
   * is none.
   */
  group: OperationGroup | null;
}

/** The control group of one operation (cgroup v2). */
export interface OperationGroup {
  /** The file that a process writes 0 into to join. */
  readonly procs: string;
  /** Ends all its processes at once, whatever group or session they have moved to. */
  kill(): void;
  /** Whether the kernel has ended a process of it because all together took more memory than they may. */
  isOutOfMemory(): boolean;
  /** After the operation. The group goes when its last process has gone: background processes may outlive the operation. */
  end(): void;
}

/** How processes of operations are kept apart from each other and from the worker. */
export interface Isolation {
  readonly name: IsolationName;
  /** In one line: what stands between an operation and the rest. */
  readonly description: string;
  /** What this installation cannot hold an operation to, in words for whoever runs it. */
  readonly notEnforced: readonly string[];
  /** Most bytes that the folders of one operation may hold; the starter watches it. Null: not bounded. */
  readonly diskBytes: number | null;
  /** Who a tenant's files belong to; null: the worker itself. The same answer on every call and after a restart. */
  accountOf(tenant: string): Account | null;
  launch(command: Command, confinement: Confinement): Launch;
}

/** Most that one operation may use; null: not bounded. */
export interface Limits {
  /** Processes and threads. */
  processes: number;
  openFiles: number;
  /** Bytes of one file. */
  fileBytes: number;
  /** Bytes of private memory of one process; with a control group also of all its processes together. */
  memoryBytes: number | null;
}

/** `own`: the group that the worker runs in; a text that begins with a slash: a group below the mount of cgroup v2. */
export type ControlGroupChoice = 'auto' | 'none' | 'own' | `/${string}`;

export interface IsolationSettings {
  /** `auto`: the strongest that works, or an error; `best`: the strongest that works, even if it is none. */
  mode: IsolationName | 'auto' | 'best';
  /** The worker's folder: run folders and copies lie below it. */
  workRoot: string;
  /** Folder with bin/ and python/ of the plugin runtime. */
  assetsDir: string;
  /** Uids that tenants are given, first and last. */
  uids: { first: number; last: number };
  /** One account for all tenants instead; null: one each. */
  account: Account | null;
  limits: Limits;
  /** Where groups for operations are made; absent: nowhere. */
  controlGroup?: ControlGroupChoice;
  /** Folders of this machine that operations see besides the system's. */
  shared: readonly SharedPath[];
  /** Folders that are covered where the rest of the file system cannot be: the manager's home. */
  hidden: readonly string[];
  /** Where programs are looked for. */
  path: string;
  /** What operations reach on the network; absent: what the worker reaches. */
  egress?: EgressSettings;
}

/**
 * `restricted`: no link-local and metadata addresses, and of this machine only name servers, what `allow` names and what the
 * same tenant serves by TCP; `none`: nothing but what `allow` names; `open`: what the worker reaches.
 */
export interface EgressSettings {
  mode: 'restricted' | 'none' | 'open';
  /** Allowed in spite of `deny` and of what is refused anyway. */
  allow: readonly Endpoint[];
  /** Refused besides; for `restricted`. */
  deny: readonly Endpoint[];
}

export interface SharedPath {
  path: string;
  isWritable: boolean;
}
