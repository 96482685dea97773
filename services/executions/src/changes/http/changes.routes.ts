import { type ChangeKind, changeKinds, mayListKind, type Principal } from '@baton/contracts';
import { changesRoutes } from '@baton/contracts/http/changes';
import { answer, type BoundRoute, bindRoutes } from '@baton/http';
import { AppError, badParameter, nearestName } from '@baton/kernel';
import { type ChangesDeps, streamChanges } from '../queries/stream-changes';

const KINDS = Object.keys(changeKinds) as ChangeKind[];
const MAX_IDS = 1_000;

/** The stream of changes of all kinds of resources. */
export function changesHttp(deps: ChangesDeps): BoundRoute[] {
  return bindRoutes(changesRoutes, {
    streamChanges({ principal, query, headers, signal }) {
      const kinds = kindsOf(principal, query.kinds);
      const ids = idsOf(query.ids);
      const header = headers['last-event-id'];
      const lastEventId = header === undefined || header === '' ? null : String(header);
      return answer({ stream: streamChanges(deps, { principal, kinds, ids, lastEventId }, signal) });
    },
  });
}

const named = (values: readonly string[]): string[] =>
  values.flatMap((value) => value.split(',')).filter((name) => name !== '');

/**
 * Returns the kinds to send. @throws AppError bad_parameters_error for an unknown kind; forbidden_error that names the kinds that
 * the caller may not list.
 */
function kindsOf(principal: Principal, given: readonly string[] | undefined): ReadonlySet<ChangeKind> {
  const asked = named(given ?? []);
  for (const name of asked) {
    if ((KINDS as string[]).includes(name)) continue;
    const nearest = nearestName(name, KINDS);
    throw badParameter(
      'kinds',
      `kinds: "${name.slice(0, 100)}" is no kind of resource whose changes are told`,
      {
        expected: KINDS,
        ...(nearest ? { nearest } : {}),
      },
    );
  }
  const kinds = (asked.length > 0 ? (asked as ChangeKind[]) : KINDS).filter((kind) => {
    if (mayListKind(principal, kind)) return true;
    if (asked.length > 0) throw refused(principal, kind);
    return false;
  });
  if (kinds.length === 0) throw refused(principal, KINDS[0]!);
  return new Set(kinds);
}

const refused = ({ username, tenant }: Principal, kind: ChangeKind): AppError =>
  new AppError(
    'forbidden_error',
    `User \`${username}\` may not hear of ${kind}: it takes the permission ${changeKinds[kind]} in the tenant \`${tenant}\``,
    { field: 'kinds', kind, expected: changeKinds[kind] },
  );

/** Returns the ids to send; null: all. @throws AppError bad_parameters_error for too many ids. */
function idsOf(given: readonly string[] | undefined): ReadonlySet<string> | null {
  if (given === undefined) return null;
  const ids = new Set(named(given));
  if (ids.size > MAX_IDS)
    throw badParameter('ids', `ids: ${ids.size} are too many`, { expected: `at most ${MAX_IDS} ids` });
  return ids.size === 0 ? null : ids;
}
