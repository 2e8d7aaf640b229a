// Command plugins says what the filters and scores of kube-scheduler's default profile make of pods and nodes.
//
// It reads one world a line: nodes, pods that run, namespaces, replica sets, and a pod. It answers with what keeps the
// pod off each node, or the weighted score that each plugin gives it. Plugins for volumes and devices are left out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	defaults "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

type world struct {
	Nodes       []*v1.Node           `json:"nodes"`
	Pods        []*v1.Pod            `json:"pods"`
	Namespaces  []*v1.Namespace      `json:"namespaces"`
	ReplicaSets []*appsv1.ReplicaSet `json:"replicaSets"`
	Pod         *v1.Pod              `json:"pod"`
}

type verdict struct {
	Plugin  string           `json:"plugin,omitempty"`
	Reasons []string         `json:"reasons,omitempty"`
	Scores  map[string]int64 `json:"scores,omitempty"`
	Total   int64            `json:"total"`
}

var asked = []string{
	"PrioritySort", "DefaultBinder", "NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts",
	"NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation", "ImageLocality",
}

func main() {
	metrics.Register()
	decoder, encoder := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20)), json.NewEncoder(os.Stdout)
	for decoder.More() {
		var given world
		check(decoder.Decode(&given))
		answer, err := judge(given)
		if err != nil {
			check(encoder.Encode(map[string]string{"error": err.Error()}))
			continue
		}
		check(encoder.Encode(answer))
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "plugins:", err)
		os.Exit(1)
	}
}

func judge(given world) (map[string]verdict, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, pod := range append(slices.Clone(given.Pods), given.Pod) {
		defaults.SetObjectDefaults_Pod(pod)
	}
	profile, err := defaultProfile()
	if err != nil {
		return nil, err
	}
	snapshot := cache.NewSnapshot(given.Pods, given.Nodes)
	factory := started(ctx, given)
	scheduler, err := frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile,
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithInformerFactory(factory),
	)
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return ask(ctx, scheduler, snapshot, given.Pod)
}

func ask(ctx context.Context, scheduler framework.Framework, snapshot *cache.Snapshot, pod *v1.Pod) (map[string]verdict, error) {
	answer := map[string]verdict{}
	all, err := snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	named, status, _ := scheduler.RunPreFilterPlugins(ctx, state, pod)
	var fitting []fwk.NodeInfo
	for _, node := range all {
		name := node.Node().Name
		refusal := status
		if refusal.IsSuccess() && !named.AllNodes() && !named.NodeNames.Has(name) {
			answer[name] = verdict{Plugin: "NodeAffinity", Reasons: []string{"node(s) didn't satisfy plugin(s) [NodeAffinity]"}}
			continue
		}
		if refusal.IsSuccess() {
			refusal = scheduler.RunFilterPlugins(ctx, state, pod, node)
		}
		if refusal.IsSuccess() {
			fitting = append(fitting, node)
			continue
		}
		answer[name] = verdict{Plugin: refusal.Plugin(), Reasons: refusal.Reasons()}
	}
	if len(fitting) == 0 {
		return answer, nil
	}
	if status := scheduler.RunPreScorePlugins(ctx, state, pod, fitting); !status.IsSuccess() {
		return nil, status.AsError()
	}
	scored, status := scheduler.RunScorePlugins(ctx, state, pod, fitting)
	if !status.IsSuccess() {
		return nil, status.AsError()
	}
	for _, node := range scored {
		scores := map[string]int64{}
		for _, each := range node.Scores {
			scores[each.Name] = each.Score
		}
		answer[node.Name] = verdict{Scores: scores, Total: node.TotalScore}
	}
	return answer, nil
}

func started(ctx context.Context, given world) informers.SharedInformerFactory {
	var objects []runtime.Object
	for _, each := range given.Namespaces {
		objects = append(objects, each)
	}
	for _, each := range given.ReplicaSets {
		objects = append(objects, each)
	}
	return informers.NewSharedInformerFactory(fake.NewClientset(objects...), 0)
}

func defaultProfile() (*config.KubeSchedulerProfile, error) {
	configuration, err := latest.Default()
	if err != nil {
		return nil, err
	}
	profile := configuration.Profiles[0]
	enabled := &profile.Plugins.MultiPoint.Enabled
	*enabled = slices.DeleteFunc(*enabled, func(each config.Plugin) bool { return !slices.Contains(asked, each.Name) })
	return &profile, nil
}
