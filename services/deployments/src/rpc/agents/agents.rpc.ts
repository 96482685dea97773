import { agentsRpc } from '@baton/contracts';
import { type RpcPart, rpcPart } from '@baton/service-runtime';
import {
  admitAgent,
  type CertificateDeps,
  enrolAgent,
  issueListenerCertificate,
  renewCertificate,
} from '../../commands/agents/certificates';
import { reportAgents } from '../../commands/agents/report-agents';
import { readInstallScript } from '../../queries/agents/install-script';

/** AgentsService (proto/deployments/v1): every call may be repeated. */
export function agentsRpcPart(deps: CertificateDeps): RpcPart {
  return rpcPart(agentsRpc.AgentsServiceDefinition, {
    enrolAgent: (request) => enrolAgent(deps, request),
    renewAgentCertificate: (request) => renewCertificate(deps, request),
    admitAgent: (request) => admitAgent(deps, request),
    reportAgents: (request) => reportAgents(deps, request),
    issueListenerCertificate: (request) => issueListenerCertificate(deps, request),
    readInstallScript: ({ link }) => readInstallScript(deps.db.query, link),
  });
}
