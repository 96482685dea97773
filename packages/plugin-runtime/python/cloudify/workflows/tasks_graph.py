"""Graphs of tasks: built by the code, carried out by the engine."""
from cloudify.workflows import runs
from cloudify.workflows.tasks import DEFAULT_SUBGRAPH_TOTAL_RETRIES, WorkflowTask


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

    @property
    def tasks(self):
        return list(self._tasks.values())

    def tasks_iter(self):
        return iter(self.tasks)

    def get_task(self, task_id):
        return self._tasks.get(task_id)

    def add_task(self, task):
        """The task's result: get() works once the graph was executed."""
        self._root()._tasks[task.id] = task
        return task

    def remove_task(self, task):
        self._root()._tasks.pop(task.id, None)
        self._root()._after.pop(task.id, None)
        for after in self._root()._after.values():
            after.pop(task.id, None)

    def add_dependency(self, src_task, dst_task):
        """src_task runs after dst_task."""
        root = self._root()
        for task in (src_task, dst_task):
            if task.id not in root._tasks:
                raise RuntimeError('task %s is not in the graph' % task.name)
        root._after.setdefault(src_task.id, {})[dst_task.id] = dst_task

    def remove_dependency(self, src_task, dst_task):
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

    def optimize(self):
        pass

    def linearize(self):
        """The tasks, each behind those that it waits for. Raises RuntimeError naming tasks that wait for each other."""
        order, done, path = [], set(), {}
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
        tasks = self.linearize()
        keys = {task.id: runs.next_key() for task in tasks}
        works = []
        for task in tasks:
            subgraph = task.containing_subgraph
            after = [keys[i] for i, on in self._after.get(task.id, {}).items() if i in keys and on is not subgraph]
            works.append(task.work(keys[task.id], after, keys[subgraph.id] if subgraph is not None else None))
        self._tasks, self._after = {}, {}
        runs.start(works, tasks)
        for task in tasks:
            task.is_settled = True
        runs.wait(tasks)

    def _root(self):
        return self


class SubgraphTask(WorkflowTask, TaskDependencyGraph):
    """A task that contains others: it starts before and ends after them."""

    def __init__(self, graph, name):
        WorkflowTask.__init__(self, {'item': 'subgraph', 'name': name}, name=name,
                              total_retries=DEFAULT_SUBGRAPH_TOTAL_RETRIES)
        self.graph = graph
        self.members = {}
        self.failed_task = None

    @property
    def tasks(self):
        return list(self.members.values())

    def _root(self):
        return self.graph

    def add_task(self, task):
        if task.containing_subgraph is not None and task.containing_subgraph is not self:
            raise RuntimeError('task %s cannot be in two subgraphs' % task.name)
        task.containing_subgraph = self
        self.members[task.id] = task
        return self.graph.add_task(task)

    def remove_task(self, task):
        self.members.pop(task.id, None)
        self.graph.remove_task(task)

    def execute(self):
        raise RuntimeError('a subgraph is executed with its graph')


def make_or_get_graph(function):
    """Marks a function that builds a graph; code that runs again finds its tasks by their keys."""
    def build(*args, **kwargs):
        kwargs.pop('name', None)
        return function(*args, **kwargs)
    return build
