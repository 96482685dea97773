/** The colours that all states share. */
export type Tone = 'good' | 'bad' | 'busy' | 'warn' | 'wait' | 'idle' | 'other';

const TONES: Readonly<Record<string, Tone>> = {
  good: 'good',
  active: 'good',
  well: 'good',
  enabled: 'good',
  created: 'good',
  uploaded: 'good',
  completed: 'good',
  terminated: 'good',
  succeeded: 'good',
  installed: 'good',
  trusted: 'good',
  fired: 'good',
  delivered: 'good',
  requires_attention: 'bad',
  failing: 'bad',
  gone: 'bad',
  locked: 'bad',
  refused: 'bad',
  error: 'bad',
  failed: 'bad',
  gave_up: 'bad',
  creating: 'busy',
  activating: 'busy',
  invalid: 'bad',
  failed_uploading: 'bad',
  failed_extracting: 'bad',
  failed_parsing: 'bad',
  failed_extracting_to_file_server: 'bad',
  in_progress: 'busy',
  started: 'busy',
  running: 'busy',
  uploading: 'busy',
  extracting: 'busy',
  parsing: 'busy',
  sending: 'busy',
  sent: 'busy',
  degraded: 'warn',
  activated: 'warn',
  cancelled: 'warn',
  cancelling: 'warn',
  force_cancelling: 'warn',
  kill_cancelling: 'warn',
  stopped: 'warn',
  skipped: 'warn',
  rescheduled: 'wait',
  queued: 'wait',
  scheduled: 'wait',
  due: 'wait',
  'pending-install': 'wait',
  'pending-uninstall': 'wait',
  installing: 'busy',
  uninstalling: 'busy',
  pending: 'idle',
  planned: 'idle',
  inactive: 'idle',
  disabled: 'idle',
  deactivated: 'idle',
  revoked: 'idle',
};

export const toneOf = (state: string | null | undefined): Tone => TONES[state ?? ''] ?? 'other';

/** Returns the colour of a node instance's state. Unlike an execution, an instance in `started` has reached its final state. */
export function instanceTone(state: string): Tone {
  if (state === 'started') return 'good';
  if (state === 'uninitialized' || state === 'deleted' || state === 'untouched') return 'idle';
  return /ing$/.test(state) ? 'busy' : 'other';
}
