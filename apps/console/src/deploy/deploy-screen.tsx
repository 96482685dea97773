/** A new deployment: choice of the blueprint, name, inputs, and a preview. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useTenant } from '../api/api-context';
import { planQuery } from '../api/plans';
import { statusText, t } from '../text/text';
import { Panel } from '../ui/panel';
import { Permitted } from '../ui/permitted';
import { Screen } from '../ui/screen';
import { Empty, Loaded } from '../ui/states';
import { useAddress } from '../ui/use-address';
import { BlueprintField } from './blueprint-field';
import styles from './deploy.module.css';
import { DeployForm } from './deploy-form';
import type { DeploySearch } from './deploy-search';

export function DeployScreen() {
  const tenant = useTenant();
  const { search, change } = useAddress<DeploySearch>();
  const chosen = search.blueprint_id ?? '';
  return (
    <Screen
      name={t.deploy.title}
      above={
        <Link to="/$tenant/deployments" params={{ tenant }}>
          {t.deployment.back}
        </Link>
      }
    >
      <Permitted permission="deployment_create">
        <Panel>
          <BlueprintField
            key={chosen}
            chosen={chosen}
            onChoose={(id) => change({ blueprint_id: id || undefined })}
          />
        </Panel>
        {chosen === '' ? (
          <Empty title={t.deploy.chooseFirst} hint={t.deploy.chooseHint} />
        ) : (
          <Chosen key={chosen} id={chosen} />
        )}
      </Permitted>
    </Screen>
  );
}

function Chosen({ id }: { id: string }) {
  const { client } = useApi();
  const query = useQuery(planQuery(client, useTenant(), id));
  return (
    <Loaded query={query}>
      {(blueprint) =>
        blueprint.state === 'uploaded' ? (
          <div className={styles.columns}>
            <DeployForm blueprint={blueprint} />
          </div>
        ) : (
          <Empty title={t.deploy.notReady(statusText(blueprint.state))} hint={blueprint.error ?? undefined} />
        )
      }
    </Loaded>
  );
}
