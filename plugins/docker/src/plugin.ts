import { definePlugin } from '@baton/plugin-sdk';
import { description, name, version } from '../package.json';
import { container } from './container/container';
import { startContainer } from './container/start-container';
import { containerFiles } from './files/container-files';
import { host } from './host/host';
import { image } from './image/image';
import { containers, hostDetails, images } from './lists/lists';
import { ansiblePlaybook } from './playbook/ansible-playbook';
import { terraformModule } from './terraform/terraform-module';

export default definePlugin({
  name,
  version,
  description,
  aliases: ['docker'],
  types: {
    'cloudify.nodes.docker.image': image,
    'cloudify.nodes.docker.container': container,
    'cloudify.nodes.docker.container_files': containerFiles,
    'cloudify.nodes.docker.host': host,
    'cloudify.nodes.docker.host_details': hostDetails,
    'cloudify.nodes.docker.images': images,
    'cloudify.nodes.docker.containers': containers,
    'cloudify.nodes.docker.ansible_playbook': ansiblePlaybook,
    'cloudify.nodes.docker.terraform_module': terraformModule,
  },
  operations: { 'cloudify_docker.tasks.start_container': startContainer },
});
