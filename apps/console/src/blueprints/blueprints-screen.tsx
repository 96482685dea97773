/** Blueprints that can be deployed, and failed uploads. */
import { Link } from '@tanstack/react-router';
import { PenLine, Upload } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useMay, useTenant } from '../api/api-context';
import { blueprintList } from '../api/blueprints';
import { StoredFilter } from '../resources/filters/stored-filter';
import { statusText, t } from '../text/text';
import { Button } from '../ui/button';
import buttons from '../ui/button.module.css';
import { BarSelect } from '../ui/field';
import { ListScreen } from '../ui/list-screen';
import { Empty } from '../ui/states';
import { useAddress } from '../ui/use-address';
import { blueprintColumns } from './blueprint-columns';
import { type BlueprintSearch, SORTS, STATES, USUAL_SORT, VISIBILITIES } from './blueprint-search';

const UploadDialog = lazy(() => import('./upload-dialog'));

export function BlueprintsScreen() {
  const tenant = useTenant();
  const { search } = useAddress<BlueprintSearch>();
  const mayUpload = useMay()('blueprint_upload');
  const [isOpen, setOpen] = useState(false);
  const actions = mayUpload && (
    <>
      <Button look="main" onClick={() => setOpen(true)}>
        <Upload size={15} aria-hidden="true" /> {t.blueprints.upload}
      </Button>
      <Link to="/$tenant/blueprints/new" params={{ tenant }} className={buttons.button}>
        <PenLine size={15} aria-hidden="true" /> {t.blueprints.write}
      </Link>
    </>
  );
  return (
    <>
      <ListScreen
        name={t.blueprints.title}
        label={t.blueprints.table}
        list={blueprintList}
        columns={blueprintColumns(tenant)}
        keyOf={({ tenant_name, id }) => `${tenant_name} ${id}`}
        count={t.blueprints.count}
        // The id breaks ties in the order, so that no row appears on two pages.
        sort={search._sort === undefined ? [USUAL_SORT, 'id'] : ['id']}
        searchLabel={t.blueprints.searchHint}
        filters={<Filters />}
        side={actions}
        empty={<Empty title={t.blueprints.empty} hint={t.blueprints.emptyHint} action={actions} />}
        isLive
      />
      {isOpen && (
        <Suspense fallback={null}>
          <UploadDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function Filters() {
  const { search, change } = useAddress<BlueprintSearch>();
  const names = t.blueprints.filters;
  return (
    <>
      <BarSelect
        label={names.state}
        value={search.state ?? ''}
        options={[['', names.anyState], ...STATES.map((one) => [one, statusText(one)] as const)]}
        onChange={(value) => change({ state: STATES.find((one) => one === value) })}
      />
      <BarSelect
        label={names.visibility}
        value={search.visibility ?? ''}
        options={[['', names.any], ...VISIBILITIES.map((one) => [one, t.visibility.names[one]] as const)]}
        onChange={(value) => change({ visibility: VISIBILITIES.find((one) => one === value) })}
      />
      <StoredFilter kind="blueprints" />
      <BarSelect
        label={t.blueprints.sort}
        value={search._sort ?? USUAL_SORT}
        options={SORTS.map((one) => [one, t.blueprints.sorts[one] ?? one] as const)}
        onChange={(value) => change({ _sort: SORTS.find((one) => one === value && one !== USUAL_SORT) })}
      />
    </>
  );
}
