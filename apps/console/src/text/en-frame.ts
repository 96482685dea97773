/** Texts of the frame: navigation, sign-in, states, statuses. */
import { count } from './en-words';

export const frameTexts = {
  product: 'Baton',

  language: 'en',

  skipToContent: 'Skip to content',

  none: '–',

  close: 'Close',

  cancel: 'Cancel',

  retry: 'Try again',

  search: 'Search',

  all: 'All',

  more: 'More',

  refresh: 'Load again',

  clearFilters: 'Clear all filters',

  of: (part: number, whole: number) => `${count.format(part)} of ${count.format(whole)}`,

  number: (n: number) => count.format(n),

  in: (time: string) => `in ${time}`,

  soon: 'in a moment',

  due: 'due now',

  duration: { ms: 'ms', s: 's', m: 'min', h: 'h', d: 'd' },

  signIn: {
    title: 'Sign in',
    username: 'User name',
    password: 'Password',
    submit: 'Sign in',
    busy: 'Signing in …',
    refused: 'User name or password is wrong.',
    refusedOrAway: (directories: readonly string[]) =>
      `User name or password is wrong, or ${directories.join(' or ')} does not answer.`,
    orDirectory: (directories: readonly string[]) =>
      `Use your account of Baton or your account of ${directories.join(' or ')}.`,
    codeRefused:
      'This sign-in link was used already, or is too old. Ask for a new one, or sign in with your password.',
    orAt: 'or',
    at: (provider: string) => `Sign in with ${provider}`,
    atProvider: {
      expired: 'This sign-in took too long, or began in another browser. Try again.',
      refused: 'Your organisation refused the sign-in.',
      bad_answer: 'The answer of your organisation cannot be trusted. Tell an administrator.',
      provider_away: 'Your organisation does not answer. Try again in a moment.',
      name_taken:
        'Another user of Baton has your user name already. An administrator must rename or remove that user.',
      bad_name: 'Your organisation gives no user name that Baton can use. Tell an administrator.',
      unknown_user: 'An administrator must make your user before you can sign in.',
      inactive: 'Your user is inactive.',
      no_provider: 'This way to sign in was turned off.',
    },
    tooMany: 'Too many failed sign-ins. Wait a minute, then try again.',
    ended: 'Your session has ended. Sign in to go on where you were.',
  },

  nav: {
    label: 'Main',
    groups: {
      work: 'Work',
      catalog: 'Catalog',
      resources: 'Resources',
      administration: 'Administration',
    },
    openMenu: 'Open the menu',
    closeMenu: 'Close the menu',
    deployments: 'Deployments',
    executions: 'Executions',
    blueprints: 'Blueprints',
    secrets: 'Secrets',
    plugins: 'Plugins',
    sites: 'Sites',
    filters: 'Filters',
    schedules: 'Schedules',
    tenant: 'Tenant',
    account: 'Account',
    signOut: 'Sign out',
    commands: 'Commands',
    shortcuts: 'Keyboard shortcuts',
    theme: 'Colours',
    themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
    zone: 'Times',
    zones: { local: 'Local time', utc: 'UTC' },
    docs: 'API documentation',
  },

  live: {
    label: 'Live changes',
    connecting: 'Connecting …',
    live: 'Live',
    reconnecting: 'Reconnecting …',
    paused: 'Paused',
    off: 'Not live',
    waiting: (n: number) => `${count.format(n)} new`,
    pause: 'Pause live changes',
    resume: 'Show changes and go on',
    hint: {
      connecting: 'Connecting to the stream of changes.',
      live: 'Changes appear here as they happen.',
      reconnecting: 'The connection was lost. What you see may be old; it continues without a gap.',
      paused: 'Changes are counted and not shown.',
      off: 'The manager does not offer a stream of changes. Lists are loaded again every 10 seconds.',
    },
  },

  state: {
    loading: 'Loading …',
    offline: 'The manager cannot be reached.',
    offlineSince: (age: string) => `The manager cannot be reached. What you see is ${age} old.`,
    error: 'This could not be loaded',
    forbidden: 'You may not see this',
    forbiddenHint: 'Ask an administrator for this permission.',
    missing: 'There is no such thing here',
    missingHint: 'It was deleted, it is in another tenant, or you may not see it.',
    code: 'Code',
    request: 'Request',
    broken: 'This page has a fault',
    brokenHint: 'Load it again. If the fault stays, report it with the text below.',
    reload: 'Load the page again',
  },

  views: {
    title: 'Views',
    none: 'No views of this list yet.',
    nothing: 'Set a filter or a search to keep it as a view.',
    name: 'Keep these filters as',
    share: 'Share it with this tenant',
    save: 'Keep the view',
    by: (name: string) => `by ${name}`,
    remove: (name: string) => `Delete the view ${name}`,
    taken: (screen: string) => `You have a view of this name already, of the list ${screen}.`,
  },

  palette: {
    title: 'Commands',
    hint: 'Type a place, an action, a deployment, a blueprint, an execution',
    places: 'Go to',
    actions: 'On this screen',
    keys: 'Arrow keys choose, Enter runs, Escape closes.',
  },

  shortcuts: {
    title: 'Keyboard shortcuts',
    search: 'Search',
    palette: 'All commands',
    goTo: (place: string) => `Go to: ${place}`,
    help: 'This list',
    next: 'Next row, previous row',
    open: 'Open the row',
    escape: 'Close a dialog, leave a search',
  },

  status: {
    good: 'Good',
    in_progress: 'In progress',
    requires_attention: 'Needs attention',
    active: 'Installed',
    inactive: 'Not installed',
    well: 'Well',
    degraded: 'Degraded',
    failing: 'Failing',
    gone: 'Gone',
    revoked: 'Revoked',
    locked: 'Locked',
    deactivated: 'Off',
    activating: 'Begins',
    activated: 'On',
    completed: 'Completed',
    terminated: 'Completed',
    failed: 'Failed',
    cancelled: 'Cancelled',
    cancelling: 'Cancelling',
    force_cancelling: 'Cancelling by force',
    kill_cancelling: 'Killing',
    pending: 'Pending',
    queued: 'Queued',
    scheduled: 'Scheduled',
    started: 'Running',
    running: 'Running',
    stopped: 'Stopped',
    succeeded: 'Succeeded',
    planned: 'Planned',
    sent: 'Sent',
    rescheduled: 'Waits for a retry',
    enabled: 'Enabled',
    disabled: 'Disabled',
    due: 'Due',
    delivered: 'Delivered',
    gave_up: 'Disabled by the manager',
    fired: 'Started',
    refused: 'Refused',
    skipped: 'Skipped',
    installed: 'Installed',
    error: 'Failed',
    'pending-install': 'Waits to be installed',
    installing: 'Is being installed',
    'pending-uninstall': 'Waits to be removed',
    uninstalling: 'Is being removed',
    uninstalled: 'Removed',
    uploaded: 'Uploaded',
    uploading: 'Uploading',
    extracting: 'Unpacking',
    parsing: 'Parsing',
    invalid: 'Invalid',
    failed_uploading: 'Upload failed',
    failed_extracting: 'Archive refused',
    failed_parsing: 'Parsing failed',
    failed_extracting_to_file_server: 'Not stored',
    creating: 'Is being made',
    created: 'Made',
    restoring: 'Is being restored',
  } as Readonly<Record<string, string>>,
};
