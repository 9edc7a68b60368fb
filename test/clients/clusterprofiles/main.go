// Asks clusters who the caller is, as a controller does that knows them from ClusterProfiles only.
//
//	clusterprofiles --clusterprofile-provider-file FILE PROFILE...
//
// Each PROFILE is a file with a ClusterProfile. For each, prints the status of a SelfSubjectReview in its cluster as a line of JSON,
// or the error in its place.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/cluster-inventory-api/pkg/access"
	"sigs.k8s.io/yaml"
)

const (
	path       = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	selfReview = `{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}`
)

func main() {
	providers := access.SetupProviderFileFlag()
	flag.Parse()
	config, err := access.NewFromFile(*providers)
	if err != nil {
		log.Fatal(err)
	}
	output := json.NewEncoder(os.Stdout)
	for _, file := range flag.Args() {
		review, err := reviewSelf(config, file)
		var line any = review
		if err != nil {
			line = map[string]string{"error": err.Error()}
		}
		if err := output.Encode(line); err != nil {
			log.Fatal(err)
		}
	}
}

func reviewSelf(providers *access.Config, file string) (json.RawMessage, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var profile v1alpha1.ClusterProfile
	if err := yaml.UnmarshalStrict(text, &profile); err != nil {
		return nil, err
	}
	config, err := providers.BuildConfigFromCP(&profile)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	answer, err := client.Post(config.Host+path, "application/json", strings.NewReader(selfReview))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		return nil, errors.New(answer.Status)
	}
	var review struct {
		Status json.RawMessage `json:"status"`
	}
	err = json.NewDecoder(answer.Body).Decode(&review)
	return review.Status, err
}
