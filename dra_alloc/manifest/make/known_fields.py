"""
The fields that pods have, and those of objects of queue systems, of all served versions together: by kind and by path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


#: Of a pod's spec, as releases 1.34 to 1.38 know them.
POD: Final = words(
    """
    activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy
    enableServiceLinks ephemeralContainers evictionResponders hostAliases hostIPC hostNetwork hostPID
    hostUsers hostname hostnameOverride imagePullSecrets initContainers nodeName nodeSelector os
    overhead preemptionPolicy priority priorityClassName readinessGates resourceClaims resources
    restartPolicy runtimeClassName schedulerName schedulingGates schedulingGroup securityContext
    serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain
    terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes workloadRef
    """
)
#: Of a container.
CONTAINER: Final = words(
    """
    args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe
    resizePolicy resources restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce
    terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir
    """
)
_LEVELS: Final = words("topology requiredTopologyLevel preferredTopologyLevel")
_SHARES: Final = words("quota limit overQuotaWeight")
_PLACED: Final = words("topologyName pack packDomain")
_PACK: Final = words("required preferred")
_WEIGHT: Final = words("weight")
_RESOURCE_GROUPS: Final[Mapping[str, frozenset[str]]] = {
    "spec.resourceGroups.*": words("coveredResources flavors"),
    "spec.resourceGroups.*.flavors.*": words("name resources"),
    "spec.resourceGroups.*.flavors.*.resources.*": words("name nominalQuota borrowingLimit lendingLimit"),
    "spec.fairSharing": _WEIGHT,
}
_VOLCANO_JOB: Final[Mapping[str, frozenset[str]]] = {
    "": words(
        """
        schedulerName minAvailable volumes tasks policies plugins runningEstimate queue maxRetry
        ttlSecondsAfterFinished priorityClassName minSuccess networkTopology
        """
    ),
    ".tasks.*": words("name replicas minAvailable template policies topologyPolicy maxRetry dependsOn partitionPolicy"),
    ".tasks.*.template.spec": POD,
    ".tasks.*.template.spec.containers.*": CONTAINER,
}
#: (group, kind) -> path, with a star for every member of a list -> the fields there.
QUEUED: Final[Mapping[tuple[str, str], Mapping[str, frozenset[str]]]] = {
    ("kueue.x-k8s.io", "ClusterQueue"): {
        "spec": words(
            """
            resourceGroups cohort cohortName queueingStrategy namespaceSelector flavorFungibility preemption
            admissionChecks admissionChecksStrategy stopPolicy fairSharing admissionScope concurrentAdmissionPolicy
            """
        ),
        **_RESOURCE_GROUPS,
        "spec.flavorFungibility": words("whenCanBorrow whenCanPreempt preference"),
        "spec.preemption": words("reclaimWithinCohort borrowWithinCohort withinClusterQueue"),
        "spec.preemption.borrowWithinCohort": words("policy maxPriorityThreshold"),
        "spec.admissionChecksStrategy": words("admissionChecks"),
        "spec.admissionChecksStrategy.admissionChecks.*": words("name onFlavors"),
    },
    ("kueue.x-k8s.io", "Cohort"): {"spec": words("parentName resourceGroups fairSharing"), **_RESOURCE_GROUPS},
    ("kueue.x-k8s.io", "LocalQueue"): {
        "spec": words("clusterQueue stopPolicy fairSharing"),
        "spec.fairSharing": _WEIGHT,
    },
    ("kueue.x-k8s.io", "ResourceFlavor"): {"spec": words("nodeLabels nodeTaints tolerations topologyName")},
    ("kueue.x-k8s.io", "Topology"): {"spec": words("levels"), "spec.levels.*": words("nodeLabel")},
    ("kueue.x-k8s.io", "AdmissionCheck"): {"spec": words("controllerName retryDelayMinutes parameters")},
    ("scheduling.run.ai", "Queue"): {
        "spec": words("displayName parentQueue resources priority preemptMinRuntime reclaimMinRuntime"),
        "spec.resources": words("cpu gpu memory"),
        **dict.fromkeys(("spec.resources.cpu", "spec.resources.gpu", "spec.resources.memory"), _SHARES),
    },
    ("scheduling.run.ai", "PodGroup"): {
        "spec": words(
            """
            minMember minSubGroup queue priorityClassName preemptibility markUnschedulable schedulingBackoff
            preemptionDelay stalenessGracePeriod subGroups topologyConstraint
            """
        ),
        "spec.topologyConstraint": _LEVELS,
        "spec.subGroups.*": words("name minMember minSubGroup parent topologyConstraint"),
        "spec.subGroups.*.topologyConstraint": _LEVELS,
    },
    ("kai.scheduler", "Topology"): {"spec": words("levels"), "spec.levels.*": words("nodeLabel alias")},
    ("grove.io", "ClusterTopologyBinding"): {"spec.levels.*": words("domain key")},
    ("grove.io", "PodCliqueSet"): {
        "spec": words("replicas template updateStrategy"),
        "spec.template": words(
            """
            cliques cliqueStartupType priorityClassName headlessServiceConfig topologyConstraint terminationDelay
            resourceClaimTemplates resourceSharing podCliqueScalingGroups
            """
        ),
        "spec.template.topologyConstraint": _PLACED,
        "spec.template.topologyConstraint.pack": _PACK,
        "spec.template.cliques.*": words(
            "name labels annotations topologyConstraint resourceSharing rollingUpdate spec"
        ),
        "spec.template.cliques.*.topologyConstraint": _PLACED,
        "spec.template.cliques.*.topologyConstraint.pack": _PACK,
        "spec.template.cliques.*.spec": words(
            "roleName podSpec replicas minAvailable startsAfter autoScalingConfig scaleConfig"
        ),
        "spec.template.cliques.*.spec.podSpec": POD,
        "spec.template.cliques.*.spec.podSpec.containers.*": CONTAINER,
        "spec.template.podCliqueScalingGroups.*": words(
            """
            name cliqueNames annotations replicas minAvailable scaleConfig rollingUpdate resourceSharing
            topologyConstraint
            """
        ),
        "spec.template.podCliqueScalingGroups.*.topologyConstraint": _PLACED,
        "spec.template.podCliqueScalingGroups.*.topologyConstraint.pack": _PACK,
    },
    ("scheduling.volcano.sh", "Queue"): {
        "spec": words(
            """
            weight capability reclaimable extendClusters guarantee affinity type parent deserved priority
            dequeueStrategy
            """
        ),
    },
    ("scheduling.volcano.sh", "PodGroup"): {
        "spec": words("minMember minTaskMember queue priorityClassName minResources networkTopology subGroupPolicy"),
    },
    ("batch.volcano.sh", "Job"): {f"spec{path}": known for path, known in _VOLCANO_JOB.items()},
    ("batch.volcano.sh", "CronJob"): {f"spec.jobTemplate.spec{path}": known for path, known in _VOLCANO_JOB.items()},
}
