import { choicesOf } from '../search-params';
import { t } from '../text/text';
import { BarSelect } from '../ui/field';
import { useAddress } from '../ui/use-address';
import type { EnabledSearch } from './webhook-search';

/** Filter of a list whose rows are enabled or disabled. */
export function EnabledFilter({ label }: { label: string }) {
  const { search, change } = useAddress<EnabledSearch>();
  return (
    <BarSelect
      label={label}
      value={search.is_enabled?.[0] ?? ''}
      options={[
        ['', `${label}: ${t.all}`],
        ['true', t.status.enabled!],
        ['false', t.status.disabled!],
      ]}
      onChange={(value) => change({ is_enabled: choicesOf(value, ['true', 'false']) })}
    />
  );
}
