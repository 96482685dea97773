/** The choice among rules that were kept under a name, above the list that they narrow. */
import { useQuery } from '@tanstack/react-query';
import { useApi, useTenant } from '../../api/api-context';
import { useQuiet } from '../../api/use-quiet';
import { t } from '../../text/text';
import { BarSelect } from '../../ui/field';
import { useAddress } from '../../ui/use-address';
import type { FilterKind } from './filter-rules';
import { filterNamesQuery } from './filters';

/** Stands in the address as `_filter_id`. Nothing where no filter is kept; the names come after the rows. */
export function StoredFilter({ kind }: { kind: FilterKind }) {
  const { client } = useApi();
  const { search, change } = useAddress<{ _filter_id?: string }>();
  const { data = [] } = useQuery({ ...filterNamesQuery(client, useTenant(), kind), enabled: useQuiet() });
  const chosen = search._filter_id;
  const known = chosen && !data.includes(chosen) ? [chosen, ...data] : data;
  if (known.length === 0) return null;
  return (
    <BarSelect
      label={t.filters.stored}
      value={chosen ?? ''}
      options={[['', t.filters.noStored], ...known.map((name) => [name, name] as const)]}
      onChange={(value) => change({ _filter_id: value || undefined })}
    />
  );
}
