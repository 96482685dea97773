import { instant, name, or, orNull, text } from './fields';

/** What an object has that a user made in a tenant. */
export const owned = { visibility: or(text, 'tenant'), created_by: orNull(name) };
export const created = { ...owned, created_at: orNull(instant) };
