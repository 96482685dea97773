"""Graphs of tasks: built by the code, carried out by the engine."""
from cloudify.workflows import runs
from cloudify.workflows.tasks import DEFAULT_SUBGRAPH_TOTAL_RETRIES, LocalWorkflowTask, WorkflowTask


def _circle(path, task):
    """Names along a path of tasks, from the one where it closes."""
    names = [one.name for one in path.values()]
    names = names[list(path).index(task.id):] + [task.name]
    if len(names) > 20:
        names = names[:10] + ['...'] + names[-9:]
    return ' -> '.join(str(name) for name in names)


class forkjoin(object):
    """Tasks side by side in a sequence."""

    def __init__(self, *tasks):
        self.tasks = tasks


class TaskSequence(object):
    """Tasks one after the other."""

    def __init__(self, graph):
        self.graph = graph
        self.last = []

    def add(self, *tasks):
        for link in tasks:
            side = list(link.tasks) if isinstance(link, forkjoin) else [link]
            side = [task for task in side if task is not None]
            if not side:
                continue
            for task in side:
                self.graph.add_task(task)
                for on in self.last:
                    self.graph.add_dependency(task, on)
            self.last = side


class TaskDependencyGraph(object):
    """Tasks with dependencies. It may be executed several times: what was executed is no longer in it."""

    def __init__(self, workflow_context=None, graph_id=None, default_subgraph_task_config=None):
        self.ctx = workflow_context
        self.id = graph_id
        self._tasks = {}
        self._after = {}
        # Tasks that have been handed to the engine, by id, as long as the graph is executed.
        self._begun = {}
        # Ends that the code would have to handle: the engine does.
        self._finished_tasks = {}

    @property
    def _dependencies(self):
        """Ids of the tasks that a task waits for, by its id."""
        return {task_id: set(after) for task_id, after in self._root()._after.items()}

    @property
    def _dependents(self):
        """Ids of the tasks that wait for a task, by its id."""
        found = {}
        for task_id, after in self._root()._after.items():
            for on in after:
                found.setdefault(on, set()).add(task_id)
        return found

    @property
    def tasks(self):
        begun = [task for task in self._begun.values() if not task.is_terminated]
        return begun + list(self._tasks.values())

    def tasks_iter(self):
        return iter(self.tasks)

    def get_task(self, task_id):
        return self._tasks.get(task_id) or self._begun.get(task_id)

    def add_task(self, task):
        """Puts a task into the graph; its result is there once the graph was executed."""
        self._root()._tasks[task.id] = task
        return task

    def remove_task(self, task):
        """Takes a task out, a subgraph with all its members. What has been handed over does not start any more."""
        root = self._root()
        if task.is_subgraph:
            for member in list(task.tasks.values()):
                root.remove_task(member)
        if task.containing_subgraph is not None:
            # A new dictionary: somebody may be going through the old one.
            around = task.containing_subgraph
            around.members = {i: member for i, member in around.members.items() if i != task.id}
        if task.id in root._begun and task.keys:
            runs.drop(task)
        root._tasks.pop(task.id, None)
        root._after.pop(task.id, None)
        for after in root._after.values():
            after.pop(task.id, None)

    def _check_in(self, *tasks):
        root = self._root()
        for task in tasks:
            if task.id not in root._tasks and task.id not in root._begun:
                raise RuntimeError('task %s is not in the graph' % task.name)

    def add_dependency(self, src_task, dst_task):
        """src_task runs after dst_task."""
        if src_task.id == dst_task.id:
            return
        self._check_in(src_task, dst_task)
        self._root()._after.setdefault(src_task.id, {})[dst_task.id] = dst_task

    def remove_dependency(self, src_task, dst_task):
        self._check_in(src_task, dst_task)
        self._root()._after.get(src_task.id, {}).pop(dst_task.id, None)

    def sequence(self):
        return TaskSequence(self)

    def subgraph(self, name):
        task = SubgraphTask(self._root(), name)
        self.add_task(task)
        return task

    def store(self, name, optimize=True):
        """The engine keeps graphs as they are executed."""
        self.name = name
        if optimize:
            self.optimize()

    def optimize(self):
        """Takes out what does nothing: operations that are not implemented, and subgraphs of nothing else."""
        for task in [task for task in self._tasks.values() if task.is_nop()]:
            before = list(self._after.get(task.id, {}).values())
            behind = [self._tasks[i] for i, after in self._after.items() if task.id in after and i in self._tasks]
            self.remove_task(task)
            for waiting in behind:
                for on in before:
                    if waiting.id in self._tasks and on.id in self._tasks:
                        self.add_dependency(waiting, on)

    def linearize(self):
        """The tasks, each behind those that it waits for. Raises RuntimeError naming tasks that wait for each other."""
        order, done, path = [], set(self._begun), {}
        # A stack of our own: sequences are longer than the interpreter lets functions call themselves.
        for first in self.tasks:
            stack = [(first, None)]
            while stack:
                task, rest = stack.pop()
                if rest is None:
                    if task.id in done:
                        continue
                    if task.id in path:
                        raise RuntimeError('tasks of the graph wait for each other: ' + _circle(path, task))
                    path[task.id] = task
                    rest = iter(self._before(task))
                on = next((one for one in rest if one.id not in done), None)
                if on is not None:
                    stack += [(task, rest), (on, None)]
                    continue
                del path[task.id]
                done.add(task.id)
                order.append(task)
        return order

    def _before(self, task):
        """What the task waits for: its dependencies, and the start of its subgraph, which is no end to wait for."""
        around = task.containing_subgraph
        before = [on for on in self._root()._after.get(task.id, {}).values() if on is not around]
        return before + ([around] if around is not None else [])

    def execute(self):
        """Runs the tasks. Raises WorkflowFailed when one failed, ExecutionCancelled."""
        try:
            runs.wait(self.start_added(), more=self.start_added)
        finally:
            self._begun = {}

    def start_added(self):
        """Hands over what has been added and answers it; handlers add tasks while the graph is executed."""
        for task in list(self._tasks.values()):
            if task.needs_step():
                self._ask_behind(task)
        tasks = self.linearize()
        keys = {task.id: runs.next_key() for task in tasks}
        works = []
        for task in tasks:
            subgraph = task.containing_subgraph
            after = [_key_of(on, keys) for on in self._after.get(task.id, {}).values() if on is not subgraph]
            works.append(task.work(keys[task.id], [key for key in after if key],
                                   _key_of(subgraph, keys) if subgraph is not None else None))
        self._tasks, self._after = {}, {}
        for task in tasks:
            self._begun[task.id] = task
            task.is_settled = True
        if tasks:
            runs.start(works, tasks)
        return tasks

    def _ask_behind(self, task):
        """The engine asks handlers of operations and steps only: a step behind any other task asks its own."""
        handler, task.on_success = task.on_success, None
        step = LocalWorkflowTask(lambda: runs.obey(handler(task)), name=task.name, total_retries=0, send_task_events=False)
        (task.containing_subgraph or self).add_task(step)
        for after in self._after.values():
            if task.id in after:
                after[step.id] = step
        self.add_dependency(step, task)

    def _root(self):
        return self


def _key_of(task, keys):
    return keys.get(task.id) or (task.keys[0] if task.keys else None)


class SubgraphTask(WorkflowTask, TaskDependencyGraph):
    """A task that contains others: it starts before and ends after them."""
    is_subgraph = True
    _engine_asks = False

    def __init__(self, graph, name=None, info=None, total_retries=DEFAULT_SUBGRAPH_TOTAL_RETRIES, **_):
        title = name or (info or {}).get('name') or 'subgraph'
        WorkflowTask.__init__(self, {'item': 'subgraph', 'name': title}, name=title, info={'name': title},
                              total_retries=total_retries, context=graph.ctx)
        self.graph = graph
        self.members = {}
        # Those as well that have been taken out.
        self.all_members = {}

    # Those that have not ended, by id.
    tasks = property(lambda self: self.members)
    # The member whose failure was the subgraph's.
    failed_task = property(lambda self: runs.failed_member(self))

    def is_nop(self):
        return all(task.is_nop() for task in self.members.values())

    def _root(self):
        return self.graph

    def add_task(self, task):
        if task.containing_subgraph is not None and task.containing_subgraph is not self:
            raise RuntimeError('task %s cannot be in two subgraphs' % task.name)
        task.containing_subgraph = self
        self.members[task.id] = self.all_members[task.id] = task
        return self.graph.add_task(task)

    def remove_task(self, task):
        self.graph.remove_task(task)

    def get_task(self, task_id):
        return self.graph.get_task(task_id)

    def execute(self):
        raise RuntimeError('a subgraph is executed with its graph')


def make_or_get_graph(f):
    """Marks a function that builds a graph; code that runs again finds its tasks by their keys."""
    def build(*args, **kwargs):
        kwargs.pop('name', None)
        return f(*args, **kwargs)
    return build
