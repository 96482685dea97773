/** Overview: failures, stuck executions, and problems that wait for a person. */
import { useMay } from '../api/api-context';
import { t } from '../text/text';
import { Screen } from '../ui/screen';
import { DeploymentCounts, ExecutionCounts } from './counts';
import { Failures } from './failures';
import { Health, MaintenanceBanner } from './health';
import styles from './overview.module.css';
import { Drifted, NextSchedules } from './short-lists';
import { StuckList } from './stuck-list';

export function OverviewScreen() {
  const may = useMay();
  return (
    <Screen name={t.overview.title}>
      {may('maintenance_mode_get') && <MaintenanceBanner />}
      <div className={styles.grid}>
        {may('deployment_list') && <DeploymentCounts />}
        {may('execution_list') && <ExecutionCounts />}
        {may('execution_list') && <Failures />}
        {may('execution_list') && <StuckList />}
        {may('deployment_list') && <Drifted />}
        {may('execution_schedule_list') && <NextSchedules />}
        {may('cluster_status_get') && <Health />}
      </div>
    </Screen>
  );
}
