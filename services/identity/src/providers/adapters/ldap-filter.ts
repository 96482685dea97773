/**
 * Filters of directories with places for values. A filter is parsed before a value is put in, so that no value is ever read as a
 * filter: `*`, `)` or `\` in a user name are these characters (RFC 4515).
 */
import { badParameter } from '@baton/kernel';
import {
  AndFilter,
  EqualityFilter,
  ExtensibleFilter,
  type Filter,
  FilterParser,
  NotFilter,
  OrFilter,
  PresenceFilter,
  SubstringFilter,
} from 'ldapts';

/** Values by the name of their place; null: any value, where a place asks for one. */
export type FilterValues = Readonly<Partial<Record<FilterPlace, string | null>>>;
export type FilterPlace = 'username' | 'dn';

const PLACE = /\{([a-z]+)\}/g;

const placesIn = (text: string): string[] => [...text.matchAll(PLACE)].map(([, name]) => name!);

/** Returns the texts of a filter in which a place may not stand: a name with a `*` beside it would match other names. */
function forbiddenTexts(filter: Filter): string[] {
  if (filter instanceof AndFilter || filter instanceof OrFilter)
    return filter.filters.flatMap(forbiddenTexts);
  if (filter instanceof NotFilter) return forbiddenTexts(filter.filter);
  if (filter instanceof EqualityFilter || filter instanceof ExtensibleFilter) return [];
  return filter instanceof SubstringFilter
    ? [filter.initial, ...filter.any, filter.final]
    : [filter.toString()];
}

/**
 * Checks a filter that an administrator gives.
 * @throws AppError bad_parameters_error unless it can be read, holds one of the `needed` places and only `allowed` ones
 */
export function requireFilter(
  field: string,
  text: string,
  { needed, allowed }: { needed: readonly FilterPlace[]; allowed: readonly FilterPlace[] },
): string {
  const refused = (why: string) =>
    badParameter(field, `Invalid ${field}: ${why}`, {
      expected: `a filter of RFC 4515 with ${needed.map((place) => `{${place}}`).join(' or ')}`,
    });
  const places = placesIn(text);
  const unknown = places.find((place) => !(allowed as readonly string[]).includes(place));
  if (unknown !== undefined) throw refused(`there is no place {${unknown}}`);
  if (!needed.some((place) => places.includes(place))) throw refused('it holds no place for the value');
  let filter: Filter;
  try {
    filter = FilterParser.parseString(text);
  } catch {
    throw refused('it cannot be read as a filter');
  }
  if (forbiddenTexts(filter).some((one) => placesIn(one).length > 0))
    throw refused('a place stands beside a *, or where no value is compared');
  return text;
}

/** Returns the filter with the values in its places. */
export function filledFilter(text: string, values: FilterValues): Filter {
  return fill(FilterParser.parseString(text), values);
}

function fill(filter: Filter, values: FilterValues): Filter {
  if (filter instanceof AndFilter)
    return new AndFilter({ filters: filter.filters.map((one) => fill(one, values)) });
  if (filter instanceof OrFilter)
    return new OrFilter({ filters: filter.filters.map((one) => fill(one, values)) });
  if (filter instanceof NotFilter) return new NotFilter({ filter: fill(filter.filter, values) });
  if (filter instanceof EqualityFilter && typeof filter.value === 'string') {
    const value = put(filter.value, values);
    return value === null
      ? new PresenceFilter({ attribute: filter.attribute })
      : new EqualityFilter({ attribute: filter.attribute, value });
  }
  if (filter instanceof ExtensibleFilter) {
    const { rule, matchType, dnAttributes } = filter;
    const value = put(filter.value, values);
    if (value === null) return new PresenceFilter({ attribute: matchType });
    return new ExtensibleFilter({ rule, matchType, dnAttributes, value });
  }
  return filter;
}

/** The text with the values in its places; null: one of them is any value. */
function put(text: string, values: FilterValues): string | null {
  if (placesIn(text).some((place) => values[place as FilterPlace] === null)) return null;
  return text.replace(PLACE, (_all, place: FilterPlace) => values[place] ?? '');
}
