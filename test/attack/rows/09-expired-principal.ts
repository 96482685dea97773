import { systemClock } from '@baton/kernel';
import { lifeFrom, signToken } from '@baton/trust';
import { statusOfRpc } from '../../harness/raw-rpc';
import { gatewayKey, principalBy } from '../forge';
import { control, held, type Row } from '../row';

/** Seconds since the token expired. */
const AGO_S = 250;

export const row: Row = {
  name: '9',
  title: `a principal and a call token that expired ${AGO_S} s ago`,
  modes: ['services'],
  async run({ fleet, victim, secret }) {
    const key = gatewayKey();
    const read = async (begun: number): Promise<number> => {
      const url = `${fleet.http.secrets}/api/v3.1/secrets/theirs`;
      const answer = await fetch(url, { headers: principalBy(key, victim.tenant, { begun }) });
      return (await answer.text()).includes(secret) ? 200 : answer.status;
    };
    const call = async (begun: number): Promise<string> => {
      const life = lifeFrom(systemClock.now() + begun * 1000);
      const token = signToken('baton-call', key, { iss: 'gateway', aud: 'cluster-status', ...life });
      const path = '/baton.cluster_status.v1.ClusterStatusService/GetConfig';
      return await statusOfRpc(fleet.rpc['cluster-status']!, path, token, Buffer.alloc(0));
    };
    const [fresh, freshCall] = [await read(0), await call(0)];
    control(fresh === 200, `a fresh principal is answered ${fresh}`);
    control(freshCall === 'ok', `a fresh call token is answered ${freshCall}`);
    const [old, oldCall] = [await read(-60 - AGO_S), await call(-60 - AGO_S)];
    return held(old === 401 && oldCall === 'unauthorized_error', `answered ${old}; rpc ${oldCall}`);
  },
};
