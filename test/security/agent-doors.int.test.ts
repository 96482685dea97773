// The doors of agents: tokens, foreign authorities, revocation, deletion, copies (reference/agents.md 2 S4, S6).
import { agentPaths } from '@baton/contracts';
import { foreignIdentity } from '../hosts/client/foreign';
import { enrol, type Identity, openTls, requestAs, signingRequest } from '../hosts/client/identity';
import { type AgentStream, openStream } from '../hosts/client/stream';
import { type Prey, startPrey } from './agent-prey';

jest.setTimeout(180_000);

let prey: Prey;
let thief: Identity;
let stream: AgentStream;
beforeAll(async () => {
  prey = await startPrey();
  thief = await prey.newIdentity(prey.caller.admin, prey.ids.host_a!);
  stream = await openStream(prey.place, thief);
});
afterAll(async () => {
  stream?.close();
  await prey?.fleet.stop();
});

describe('tokens and certificates', () => {
  test('a token is good for one certificate, also for two at the same moment', async () => {
    const { token, authorities } = await prey.newToken(prey.caller.admin, prey.ids.host_b!);
    const tried = await Promise.allSettled(
      Array.from({ length: 5 }, () => enrol(prey.place, token, authorities)),
    );
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(enrol(prey.place, token, authorities)).rejects.toThrow('401');
    await expect(enrol(prey.place, `${token}x`, authorities)).rejects.toThrow('401');
    // An older token falls with a newer one.
    const first = await prey.newToken(prey.caller.admin, prey.ids.host_b!);
    await prey.newToken(prey.caller.admin, prey.ids.host_b!);
    await expect(enrol(prey.place, first.token, authorities)).rejects.toThrow('401');
  });

  test('a certificate of a foreign authority is not let in, whatever name is in it', async () => {
    const { agent } = stream.welcome;
    const forged = foreignIdentity(agent.id, thief.authorities);
    await expect(openStream(prey.place, forged)).rejects.toThrow();
    const renew = {
      method: 'POST',
      path: agentPaths.renew,
      body: { signing_request: signingRequest().request },
    };
    await expect(requestAs(prey.place, forged, renew).then(({ status }) => status))
      .resolves.not.toBe(200)
      .catch(() => undefined);
    const { status } = await requestAs(prey.place, { authorities: thief.authorities }, renew);
    expect(status).toBe(401);
    await expect(openTls(prey.place, { ...thief, authorities: forged.certificate })).rejects.toThrow();
  });

  test('who cannot enter agents makes no tokens: another tenant, a user without the right', async () => {
    const viewer = await prey.caller.user('viewer', 'default_tenant', 'viewer');
    for (const who of [viewer, prey.alien, { user: null, tenant: 'default_tenant' }]) {
      const { status } = await prey.caller.send(who, 'POST', `/agents/${prey.ids.host_a}/enrolment`, {});
      expect([401, 403, 404]).toContain(status);
    }
  });

  test('revoked: the stream is cut within 5 s, and no door is open any more', async () => {
    const identity = await prey.newIdentity(prey.caller.admin, prey.ids.host_b!);
    const doomed = await openStream(prey.place, identity, 'doomed');
    const since = performance.now();
    await prey.caller.must(prey.caller.admin, 'POST', `/agents/${prey.ids.host_b}/revoke`);
    await doomed.closed;
    expect(performance.now() - since).toBeLessThan(5_000);
    await expect(openStream(prey.place, identity, 'again')).rejects.toThrow();
    const renew = {
      method: 'POST',
      path: agentPaths.renew,
      body: { signing_request: signingRequest().request },
    };
    expect((await requestAs(prey.place, identity, renew)).status).toBe(401);
  });

  test('deleted: the same, for the record of an agent and for a whole tenant', async () => {
    const doomed = await openStream(
      prey.place,
      await prey.newIdentity(prey.caller.admin, prey.ids.host_b!),
      'doomed',
    );
    await prey.caller.must(prey.caller.admin, 'DELETE', `/agents/${prey.ids.host_b}`);
    await doomed.closed;
    const far = await openStream(
      prey.place,
      await prey.newIdentity(prey.alien, prey.alienIds.host_a!),
      'far',
    );
    await prey.caller.must(prey.alien, 'DELETE', '/deployments/d?force=true');
    await far.closed;
  });

  test('another process with the same certificate takes the stream over, so that a copy is seen', async () => {
    const second = await openStream(prey.place, thief, 'a copy');
    expect((await stream.closed).code).not.toBe(1000);
    second.close();
    stream = await openStream(prey.place, thief);
  });
});
