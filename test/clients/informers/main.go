// Follows a collection with an informer of client-go and prints what it sees, one JSON line each:
//
//	{"request":"list","status":200}                      list, watch or watchlist
//	{"event":"add","name":"a","resourceVersion":"5"}     add, update, delete or missed
//	{"synced":true}                                      once the cache is filled
//	{"store":[{"name":"a","resourceVersion":"5"}]}       after each line on standard input
//
// A deletion that the informer noticed only in a list is "missed". Ends at the end of standard input.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type object struct {
	Name            string `json:"name"`
	ResourceVersion string `json:"resourceVersion"`
}

type event struct {
	Event string `json:"event"`
	object
}

type request struct {
	Request string `json:"request"`
	Status  int    `json:"status"`
}

type store struct {
	Store []object `json:"store"`
}

var printing sync.Mutex

func printLine(value any) {
	printing.Lock()
	defer printing.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(value); err != nil {
		log.Fatal(err)
	}
}

func objectOf(one any) object {
	meta := one.(metav1.Object)
	return object{meta.GetName(), meta.GetResourceVersion()}
}

// printRequests prints each list and watch with the status of its answer.
type printRequests struct{ next http.RoundTripper }

func (p printRequests) RoundTrip(sent *http.Request) (*http.Response, error) {
	answer, err := p.next.RoundTrip(sent)
	status := 0
	if err == nil {
		status = answer.StatusCode
	}
	query := sent.URL.Query()
	kind := "list"
	if query.Get("watch") == "true" {
		kind = "watch"
		if query.Get("sendInitialEvents") == "true" {
			kind = "watchlist"
		}
	}
	printLine(request{kind, status})
	return answer, err
}

func informerOf(config *rest.Config, resource schema.GroupVersionResource, onlyMetadata bool) (cache.SharedIndexInformer, error) {
	if onlyMetadata {
		client, err := metadata.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return metadatainformer.NewSharedInformerFactory(client, 0).ForResource(resource).Informer(), nil
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(resource).Informer(), nil
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the path of a kube config")
	plural := flag.String("resource", "", "the plural name of a kind of management.platform/v1")
	onlyMetadata := flag.Bool("metadata", false, "follow metadata only")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return printRequests{next} })
	resource := schema.GroupVersionResource{Group: "management.platform", Version: "v1", Resource: *plural}
	informer, err := informerOf(config, resource, *onlyMetadata)
	if err != nil {
		log.Fatal(err)
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(one any) { printLine(event{"add", objectOf(one)}) },
		UpdateFunc: func(_, one any) { printLine(event{"update", objectOf(one)}) },
		DeleteFunc: func(one any) {
			if last, ok := one.(cache.DeletedFinalStateUnknown); ok {
				printLine(event{"missed", object{Name: last.Key}})
				return
			}
			printLine(event{"delete", objectOf(one)})
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	stop := make(chan struct{})
	go informer.Run(stop)
	if !cache.WaitForCacheSync(stop, informer.HasSynced) {
		log.Fatal("the informer did not synchronize")
	}
	printLine(map[string]bool{"synced": true})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		all := []object{}
		for _, one := range informer.GetStore().List() {
			all = append(all, objectOf(one))
		}
		printLine(store{all})
	}
	close(stop)
}
