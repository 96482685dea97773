import { useQuery } from '@tanstack/react-query';
import { useApi, useTenant } from '../../api/api-context';
import { t } from '../../text/text';
import { InlineProblem } from '../../ui/states';
import { useRested } from '../../ui/use-rested';
import { type FilterKind, type FilterRule, faultsOf, entryOf as toEntry } from './filter-rules';
import { foundQuery } from './filters';
import styles from './rules-editor.module.css';

/** Current results of these rules. Incomplete rules are not evaluated. */
export function Found({ kind, rules }: { kind: FilterKind; rules: readonly FilterRule[] }) {
  const { client } = useApi();
  const tenant = useTenant();
  const text = useRested(JSON.stringify(rules));
  const tried = JSON.parse(text) as FilterRule[];
  const isWhole = tried.length > 0 && Object.keys(faultsOf(tried.map(toEntry))).length === 0;
  const found = useQuery({
    ...foundQuery(client, tenant, kind, tried),
    enabled: isWhole,
    placeholderData: (before) => before,
  });
  if (!isWhole) return <p role="status">{t.filters.notTried}</p>;
  if (found.error) return <InlineProblem error={found.error} />;
  if (!found.data) return <p role="status">{t.state.loading}</p>;
  const { items, total } = found.data;
  return (
    <p role="status" className={styles.found}>
      <strong>{t.filters.found[kind](total)}</strong>{' '}
      {t.filters.sample(
        items.map(({ id }) => id),
        total,
      )}
    </p>
  );
}
