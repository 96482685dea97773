import type { Endpoint } from './egress/endpoints';

/** User and group under which the processes of a tenant's operations run. */
export interface Account {
  uid: number;
  gid: number;
}

export type IsolationName = 'bubblewrap' | 'namespaces' | 'uid' | 'none';

/** A program to be started for an operation. */
export interface Command {
  program: string;
  args: readonly string[];
  /** Working folder, as a path inside the confinement. */
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** The folders of one operation. Everything else on the worker's machine belongs to the system or is hidden. */
export interface Confinement {
  tenant: string;
  /** Folder that the operation sees as /tmp; it lies inside one of `writable`. */
  tmp: string;
  /** Folders that the operation may change: the folder of its run, and its copy of the deployment's working folder. */
  writable: readonly string[];
  /** Folders that the operation may only read: a plugin's environment, the assets of the plugin runtime. */
  readable: readonly string[];
}

/** The process to start: the command wrapped by the isolation. */
export interface Launch {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Account that starts the process; null: the worker's own account. */
  account: Account | null;
  /** Files to open for reading; the process gets them as descriptors from 3 on. */
  descriptors: readonly string[];
  /**
   * The control group that the first process joins, through the descriptor after those of `descriptors`. The starter
   * must end the group. Null: there is no group.
   */
  group: OperationGroup | null;
}

/** The control group of one operation (cgroup v2). */
export interface OperationGroup {
  /** The file of the group (`cgroup.procs`): a process that writes 0 into it joins the group. */
  readonly procs: string;
  /** Kills all processes of the group at once, also those that moved to another process group or session. */
  kill(): void;
  /** Whether the kernel killed a process of the group because the whole group exceeded its memory limit. */
  isOutOfMemory(): boolean;
  /**
   * To be called after the operation. The group is removed when its last process has ended: background processes may
   * outlive the operation.
   */
  end(): void;
}

/** Keeps processes of operations apart from each other and from the worker. */
export interface Isolation {
  readonly name: IsolationName;
  /** One line: the means that separate an operation from the rest of the machine. */
  readonly description: string;
  /** Limits that this installation cannot enforce, as text for the operator of the worker. */
  readonly notEnforced: readonly string[];
  /** Maximum bytes that the folders of one operation may hold; the starter watches the size. Null: no limit. */
  readonly diskBytes: number | null;
  /** Account that owns a tenant's files; null: the worker's own account. The same result on every call and after a restart. */
  accountOf(tenant: string): Account | null;
  /** HOME that every process gets, whatever its environment says; absent: that of the environment. */
  readonly home?: string;
  launch(command: Command, confinement: Confinement): Launch;
}

/** Resource limits of one operation; null: no limit. */
export interface Limits {
  /** Processes and threads. */
  processes: number;
  openFiles: number;
  /** Maximum bytes of one file. */
  fileBytes: number;
  /** Maximum bytes of private memory of one process. With a control group: also of all processes of the operation together. */
  memoryBytes: number | null;
}

/** `own`: the worker's own control group. A text that begins with a slash: a group below the mount of cgroup v2. */
export type ControlGroupChoice = 'auto' | 'none' | 'own' | `/${string}`;

export interface IsolationSettings {
  /** `auto`: the strongest isolation that works, or an error. `best`: the strongest that works, even if that is `none`. */
  mode: IsolationName | 'auto' | 'best';
  /** The worker's folder; run folders and copies of deployment folders lie below it. */
  workRoot: string;
  /** Folder with `bin/` and `python/` of the plugin runtime. */
  assetsDir: string;
  /** Range of uids for tenants: first and last. */
  uids: { first: number; last: number };
  /** One account for all tenants instead of one uid per tenant; null: one uid per tenant. */
  account: Account | null;
  limits: Limits;
  /** Where control groups for operations are made; absent: no control groups. */
  controlGroup?: ControlGroupChoice;
  /** Additional folders of this machine that operations see, besides those of the system. */
  shared: readonly SharedPath[];
  /** Folders to cover where the isolation cannot hide the rest of the file system: the manager's home. */
  hidden: readonly string[];
  /** Search path for programs, in the format of PATH. */
  path: string;
  /** Network policy of operations; absent: operations reach everything that the worker reaches. */
  egress?: EgressSettings;
}

/**
 * - `restricted`: refuses link-local and metadata addresses. On this machine itself it allows only name servers, the
 *   endpoints of `allow` and TCP services of the same tenant.
 * - `none`: allows only the endpoints of `allow`.
 * - `open`: allows everything that the worker reaches.
 */
export interface EgressSettings {
  mode: 'restricted' | 'none' | 'open';
  /** Allowed endpoints; they win over `deny` and over the addresses that are refused by default. */
  allow: readonly Endpoint[];
  /** Additional refused endpoints; for `restricted`. */
  deny: readonly Endpoint[];
}

export interface SharedPath {
  path: string;
  isWritable: boolean;
}
