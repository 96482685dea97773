import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { DslError, fail } from '../diagnostics/dsl-error';
import { setOwn } from '../yaml/node';
import { type Evaluator, emptyFrame, type Frame, failedFunction, type Handler } from './evaluator';
import { pathText } from './path-walk';
import { pythonText } from './python-text';
import { type FunctionName, isFunction } from './registry';
import type { FunctionStorage, StoredInstance } from './storage';

const CONTAINED_IN = 'cloudify.relationships.contained_in';
const MAX_CONTAINERS = 100;

/** get_attribute and its plural forms (reference 4, "Per function evaluation"). */
export class AttributeFunctions {
  constructor(
    private readonly storage: FunctionStorage,
    private readonly evaluator: () => Evaluator,
    /** Whether a get_attribute that finds no instance returns the reason as its value, for outputs. */
    private readonly showsFailures = false,
  ) {}

  handlers(): Partial<Record<FunctionName, Handler>> {
    return {
      get_attribute: async (args, frame, path) => {
        const [ref, ...rest] = args as [string, ...Json[]];
        const instance = await this.instanceOrReason(String(ref), frame, path, rest);
        if (typeof instance === 'string') return { value: instance };
        return {
          value: await this.valueOf(instance, rest, frame, path),
          frame: this.frameOf(instance, frame),
        };
      },
      get_attributes_list: async (args, frame, path) => {
        const [ref, ...rest] = args as [string, ...Json[]];
        const values: Json[] = [];
        for (const instance of await this.instancesOf(String(ref), frame, path, pathText(rest)))
          values.push(await this.valueOf(instance, rest, frame, path));
        return { value: values };
      },
      get_attributes_dict: (args, frame, path) => this.dict(args as Json[], frame, path),
    };
  }

  private async dict(args: Json[], frame: Frame, path: string): Promise<{ value: Json }> {
    const [ref, ...attributes] = args;
    const paths = attributes.map((a) => (Array.isArray(a) ? a : [a]));
    const names = paths.map((p) => pathText(p));
    const result: JsonObject = {};
    for (const instance of await this.instancesOf(String(ref), frame, path, names.join(', '))) {
      const values: JsonObject = {};
      for (let i = 0; i < paths.length; i++)
        setOwn(values, names[i]!, await this.valueOf(instance, paths[i]!, frame, path));
      setOwn(result, instance.id, values);
    }
    return { value: result };
  }

  private frameOf(instance: StoredInstance, frame: Frame): Frame {
    if (instance.id === frame.self) return frame;
    return { ...emptyFrame, selfNode: instance.node_id, self: instance.id, origin: frame.origin ?? frame };
  }

  private special(ref: string, frame: Frame): { instance: string | null; node: string | null } | null {
    if (ref === 'SELF') return { instance: frame.self, node: frame.selfNode };
    if (ref === 'SOURCE') return { instance: frame.source, node: frame.sourceNode };
    if (ref === 'TARGET') return { instance: frame.target, node: frame.targetNode };
    return null;
  }

  private missing(ref: string, path: string, attribute: string): never {
    return failedFunction(
      'get_attribute',
      `${ref} is missing in request context in ${path} for attribute ${attribute}`,
      path,
    );
  }

  private async instanceOrReason(
    ref: string,
    frame: Frame,
    path: string,
    attribute: Json[],
  ): Promise<StoredInstance | string> {
    try {
      return await this.instanceOf(ref, frame, path, pythonText(attribute));
    } catch (error) {
      const isShown =
        this.showsFailures && error instanceof DslError && error.diagnostic.kind === 'function_failed';
      if (!isShown) throw error;
      return `<ERROR: ${error.diagnostic.message}>`;
    }
  }

  private async instanceOf(
    ref: string,
    frame: Frame,
    path: string,
    attribute: string,
  ): Promise<StoredInstance> {
    const special = this.special(ref, frame);
    if (special === null) return this.byNode(ref, frame, path);
    if (special.instance !== null) {
      const instance = await this.storage.getNodeInstance(special.instance);
      return (
        instance ??
        failedFunction('get_attribute', `the node instance "${special.instance}" does not exist`, path)
      );
    }
    return special.node === null
      ? this.missing(ref, path, attribute)
      : this.byNode(special.node, frame, path);
  }

  private async instancesOf(
    ref: string,
    frame: Frame,
    path: string,
    attribute: string,
  ): Promise<readonly StoredInstance[]> {
    const special = this.special(ref, frame);
    if (special === null) {
      if ((await this.storage.getNode(ref)) === null)
        fail('unknown_node', `there is no node "${ref}"`, { path, value: ref });
      return this.storage.getNodeInstances(ref);
    }
    if (special.node === null && special.instance === null) this.missing(ref, path, attribute);
    const instance = special.instance === null ? null : await this.storage.getNodeInstance(special.instance);
    return this.storage.getNodeInstances(special.node ?? instance?.node_id ?? special.instance!);
  }

  /** Finds the instance of a node for the requesting instance: the only one, the related one, or the one scaled with it. */
  private async byNode(node: string, frame: Frame, path: string): Promise<StoredInstance> {
    const instances = await this.storage.getNodeInstances(node);
    if (instances.length === 0) failedFunction('get_attribute', `Node ${node} has no instances.`, path);
    if (instances.length === 1) return instances[0]!;
    const asking = frame.origin ?? frame;
    for (const id of [frame.self, asking.self, asking.source, asking.target]) {
      const own = id === null ? null : await this.storage.getNodeInstance(id);
      if (!own) continue;
      const related = (own.relationships ?? []).filter((r) => r.target_name === node);
      const found =
        related.length === 1 && (id === frame.self || id === asking.self)
          ? instances.find((i) => i.id === related[0]!.target_id)
          : undefined;
      const result = found ?? (await this.sharingGroup(own, instances));
      if (result) return result;
    }
    return failedFunction(
      'get_attribute',
      `More than one node instance found for node "${node}". Cannot resolve a node instance unambiguously.`,
      path,
    );
  }

  private async sharingGroup(
    own: StoredInstance,
    instances: readonly StoredInstance[],
  ): Promise<StoredInstance | null> {
    const mine = await this.groupsOf(own);
    if (mine.length === 0) return null;
    const theirs = new Map<StoredInstance, Set<string>>();
    for (const instance of instances) theirs.set(instance, new Set(await this.groupsOf(instance)));
    for (const group of mine) {
      const sharing = instances.filter((i) => theirs.get(i)!.has(group));
      if (sharing.length > 0) return sharing.length === 1 ? sharing[0]! : null;
    }
    return null;
  }

  /** Returns the scaling group instances of an instance and its containers, innermost first. */
  private async groupsOf(instance: StoredInstance): Promise<string[]> {
    const groups: string[] = [];
    let current: StoredInstance | null = instance;
    for (let i = 0; current && i < MAX_CONTAINERS; i++) {
      for (const group of current.scaling_groups ?? []) groups.push(group.id);
      const node = await this.storage.getNode(current.node_id);
      const container = node?.relationships?.find((r) => r.type_hierarchy.includes(CONTAINED_IN))?.target_id;
      const link: { target_id: string } | undefined =
        container === undefined ? undefined : current.relationships?.find((r) => r.target_name === container);
      current = link ? await this.storage.getNodeInstance(link.target_id) : null;
    }
    return groups;
  }

  private async valueOf(instance: StoredInstance, path: Json[], frame: Frame, at: string): Promise<Json> {
    const own = await this.follow(instance.runtime_properties ?? {}, path, instance, frame, at);
    if (own !== null) return own;
    if (path.length === 1 && path[0] === 'node_instance_id') return instance.id;
    if (path.length === 1 && path[0] === 'node_instance_index' && instance.index !== undefined)
      return instance.index;
    const node = await this.storage.getNode(instance.node_id);
    return this.follow(node?.properties ?? {}, path, instance, frame, at);
  }

  /** Returns the value at a path, null when the path leads nowhere; functions on the way are evaluated. */
  private async follow(
    from: Json,
    path: readonly Json[],
    instance: StoredInstance,
    frame: Frame,
    at: string,
  ): Promise<Json> {
    let current: Json = from;
    for (const step of path) {
      if (isFunction(current))
        current = await this.evaluator().evaluate(current, this.frameOf(instance, frame), at, 1);
      if (Array.isArray(current)) {
        const index = typeof step === 'boolean' ? Number(step) : step;
        if (typeof index !== 'number' || !Number.isInteger(index))
          failedFunction(
            'get_attribute',
            `"${pathText([step])}" in ${pathText(path)} is no index of a list`,
            at,
          );
        current = current.at(index as number) ?? null;
      } else if (isJsonObject(current)) {
        current = Object.hasOwn(current, String(step)) ? current[String(step)]! : null;
      } else return null;
    }
    return current;
  }
}
