/** The license of the manager, if it has one. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useApi, useMay, useTenant } from '../../api/api-context';
import { type License, licenseQuery } from '../../api/manager';
import { t } from '../../text/text';
import { Button } from '../../ui/button';
import { Facts } from '../../ui/facts';
import { Panel } from '../../ui/panel';
import { Screen } from '../../ui/screen';
import { Empty, Loaded } from '../../ui/states';
import { Time } from '../../ui/time';
import styles from '../admin.module.css';

const LicenseDialog = lazy(() => import('./license-dialog'));

export function LicenseScreen() {
  const { client } = useApi();
  const may = useMay();
  const query = useQuery(licenseQuery(client, useTenant()));
  const [asked, setAsked] = useState<'upload' | 'remove' | null>(null);
  return (
    <Screen
      name={t.license.title}
      side={
        <>
          {query.data && may('license_remove') && (
            <Button onClick={() => setAsked('remove')}>{t.license.remove}</Button>
          )}
          {may('license_upload') && (
            <Button look="main" onClick={() => setAsked('upload')}>
              {t.license.upload}
            </Button>
          )}
        </>
      }
    >
      <Loaded query={query}>
        {(license) =>
          license ? <Shown license={license} /> : <Empty title={t.license.none} hint={t.license.noneHint} />
        }
      </Loaded>
      {asked && (
        <Suspense fallback={null}>
          <LicenseDialog asked={asked} hasLicense={Boolean(query.data)} onClose={() => setAsked(null)} />
        </Suspense>
      )}
    </Screen>
  );
}

function Shown({ license }: { license: License }) {
  const names = t.license;
  return (
    <Panel>
      <div className={styles.stack}>
        {license.expired && <p className={styles.warning}>{names.expired}</p>}
        <Facts
          facts={[
            [names.customer, license.customer_id],
            [names.edition, license.license_edition],
            [names.expires, license.expiration_date ? <Time at={license.expiration_date} /> : names.never],
            [names.version, license.cloudify_version],
            [names.trial, license.trial ? names.yes : names.no],
            [names.capabilities, license.capabilities?.join(', ')],
          ]}
        />
      </div>
    </Panel>
  );
}
