import rulesJson from './allowed-differences.json';

/**
 * One kind of difference that is no loss. The list is data (`allowed-differences.json`) and is shown by
 * `baton import verify --allowed`.
 */
export interface Rule {
  /** Kind of object, or `*`. */
  what: string;
  /**
   * Members from the object down, joined by dots; empty: the object itself. `*` stands for any text within a member, `**` as the
   * last member for everything below.
   */
  path: string;
  /** Only this object. */
  id?: string;
  when: When;
  /** Only for what was recorded, or only for what an archive says. */
  only?: 'recording' | 'archive';
  /** With `becomes`: values there, and the value here. */
  from?: unknown[];
  to?: unknown;
  reason: string;
}

/**
 * - `any`: whatever the two values are. `instant`: the same moment in another spelling. `empty`: null, an empty text, list or object.
 * - `absent`: there is no such member here, or it is null. `extra`: there was no such member. `filled`: nothing was there, and
 *   something is here. `same-members`: the same list in another order. `becomes`: one of `from` is `to` here, where `*` stands for
 *   any text.
 */
type When = 'any' | 'instant' | 'empty' | 'absent' | 'extra' | 'filled' | 'same-members' | 'becomes';

export const RULES = rulesJson as Rule[];
