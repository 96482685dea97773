/** `lease-reaper` -> `leaseReaper` */
export const camel = (kebab) => kebab.replace(/-([a-z0-9])/g, (_, c) => c.toUpperCase());

/** `ReadPlan` -> `read-plan` */
export const kebabOf = (name) => name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
export const isKebab = (name) => /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name ?? '');
/** Returns the service and the folder of a room: `executions/schedules`. Without a room the folder is the service's src. */
export function placeOf(place) {
  const [service, room] = (place ?? '').split('/');
  return { service, folder: `services/${service}/src${room ? `/${room}` : ''}` };
}
