import { startWorld } from './manager';
import { deployOnHost, instanceOf, byKey, outputsOf, connectionOf } from './on-host';
import { follow, call } from '../harness/session';
import { cpSync } from 'node:fs';
void (async () => {
  const w = await startWorld(1);
  try {
    const [h] = w.hosts;
    await deployOnHost(w.client, 'd', h!, byKey(h!));
    const t = Date.now();
    const f = await Promise.race([follow(w.client, 'd', 'install'), new Promise((r) => setTimeout(r, 100_000))]) as any;
    console.log(Date.now() - t, f?.status, f?.error, (f?.messages ?? []).slice(-60).join('\n'));
    if (!f) { const { items } = await call(w.client, 'listExecutions', {}); console.log(items.map((i: any) => [i.id, i.workflow_id, i.status])); 
      const { items: ev } = await call(w.client, 'listEvents', {}, undefined, { include_logs: 'true', _size: 200, execution_id: items.find((i: any) => i.workflow_id === 'install').id }); console.log(ev.map((e: any) => e.message).slice(-50).join('\n')); 
      console.log(await call(w.client, 'explainExecution', { executionId: items.find((i: any) => i.workflow_id === 'install').id }).catch((e: any) => e.message)); }
    console.log(await h!.processes());
    console.log(await outputsOf(w.client, 'd').catch((e) => e.message));
    const i = await instanceOf(w.client, 'd', 'host'); console.log(i.runtime_properties);
    console.log(await connectionOf(w.client, i.id).catch((e) => e.message));
    console.log((await h!.exec('cat /opt/baton-agent/*/log/*; cat /var/log/baton-agent*')).stdout.slice(-6000));
    if (f?.status === 'terminated') { const u = await follow(w.client, 'd', 'uninstall'); console.log(u.status, u.error, u.messages.slice(-30).join('\n')); console.log(await h!.processes()); console.log(h!.paths().filter((p) => !/^\/(etc|run)/.test(p))); }
  } finally { cpSync(w.fleet.dir + '/logs', '/tmp/rig-logs', { recursive: true }); await w.stop(); }
})();
