"""
A real control plane of a Kubernetes release, random worlds applied to it, and what ran.

A world is an object of plain data, as in `shared/cases/pods/worlds`:

- `name`, `flavour` (which features it has, see `drawing.FLAVOURS`), `seed`, `ns`: its namespace;
- `cluster`: objects that are there from the start, with status where there is one: Namespace, Node, bound Pods,
  DeviceClass, ResourceSlice, ResourceClaim, PriorityClass, RuntimeClass;
- `prepare`: objects of the namespace that workloads use: ResourceQuota, ResourceClaimTemplate, ResourceClaim;
- `work`: lists of workloads; those of a list are applied together, and settle before the next list.

A recorded world has besides:

- `release`, `gates`: of the control plane; `seconds`: how long it took;
- `refused`: the server's message by `Kind/name` of cluster or prepare;
- `stored`: by `Kind/name` of cluster or prepare the spec that the server stored, where it lacks what was given: fields
  of gates that are off;
- `ran`: how many pods of each workload have a node, by `Kind/name`; a pod that no workload made by itself;
- `steps`, one for each list of `work`:
  `before`: names of pods and claims that the step found, and the status of quotas;
  `attempts` of the scheduler, in order: `pod`, `owner`, `node` (null: pending), and where several nodes passed the
  filters `scores`: by node the points of each score plugin, weighted, and `total`. The node was drawn from those with
  the most in total. A pod that was tried again is there again;
  `refused`: the last message by `Kind/name` of who met it: a workload that the server refused, one whose controller
  could not make a pod, a pod whose claim could not be made;
- `pods`: by name `owner` and `object`, as stored at the end, without defaults that say nothing; the condition
  PodScheduled where it is not true has the scheduler's message;
- `claims`: by name, as stored at the end, with their allocation.

One that did not come to rest has `unsettled`, why, instead of what ran.
"""
