// Loaded before a process of the rig (--require): its wall clock is off by the milliseconds in a file, which may change
// at any time. Monotonic time is left alone, as a jump of the wall clock leaves it.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const file = join(process.env.FAULT_DIR, `clock-${process.env.FAULT_PROCESS}`);
const RealDate = Date;
let offsetMs = 0;
let isShifted = false;

/** The same object with another now: only once somebody asked for it, since it makes each reading slower. */
function install() {
  isShifted = true;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [RealDate.now() + offsetMs] : args, newTarget),
    apply: () => new RealDate(RealDate.now() + offsetMs).toString(),
    get: (target, name) => (name === 'now' ? () => RealDate.now() + offsetMs : Reflect.get(target, name)),
  });
}

function look() {
  try {
    offsetMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    offsetMs = 0;
  }
  if (offsetMs !== 0 && !isShifted) install();
}

look();
setInterval(look, 200).unref();
