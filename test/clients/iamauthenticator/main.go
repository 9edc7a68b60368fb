// Serves the webhook of aws-iam-authenticator with its own verifier of tokens, mapping of roles, certificate and kube config.
//
//	iamauthenticator --cluster NAME --region REGION --role ARN --group GROUP --port PORT --folder FOLDER
//
// A caller with the role has the name of its session, and the group. FOLDER gets webhook.kubeconfig, with which a kube-apiserver asks.
// The server of aws-iam-authenticator also reads roles from clusters, and names of nodes from EC2, whose clients take minutes to compile.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net"
	"net/http"
	"path/filepath"

	"sigs.k8s.io/aws-iam-authenticator/pkg/config"
	"sigs.k8s.io/aws-iam-authenticator/pkg/mapper/file"
	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

type user struct {
	Username string   `json:"username"`
	UID      string   `json:"uid"`
	Groups   []string `json:"groups"`
}

type status struct {
	Authenticated bool  `json:"authenticated"`
	User          *user `json:"user,omitempty"`
}

type tokenReview struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		Token string `json:"token"`
	} `json:"spec"`
	Status status `json:"status"`
}

func main() {
	cluster := flag.String("cluster", "", "")
	region := flag.String("region", "", "")
	role := flag.String("role", "", "")
	group := flag.String("group", "", "")
	port := flag.Int("port", 0, "")
	folder := flag.String("folder", "", "")
	flag.Parse()
	settings := config.Config{
		Hostname:               "localhost",
		Address:                "127.0.0.1",
		HostPort:               *port,
		StateDir:               *folder,
		GenerateKubeconfigPath: filepath.Join(*folder, "webhook.kubeconfig"),
		RoleMappings:           []config.RoleMapping{{RoleARN: *role, Groups: []string{*group}}},
	}
	roles, err := file.NewFileMapper(settings)
	if err != nil {
		log.Fatal(err)
	}
	if err := settings.GenerateFiles(); err != nil {
		log.Fatal(err)
	}
	verifier := token.NewVerifier(*cluster, "aws", *region)
	http.HandleFunc("POST /authenticate", func(answer http.ResponseWriter, request *http.Request) {
		var review tokenReview
		if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
			http.Error(answer, err.Error(), http.StatusBadRequest)
			return
		}
		caller, err := authenticate(verifier, roles, review.Spec.Token)
		if err != nil {
			log.Print("access denied: ", err)
			answer.WriteHeader(http.StatusForbidden)
		}
		review.Status = status{Authenticated: err == nil, User: caller}
		if err := json.NewEncoder(answer).Encode(review); err != nil {
			log.Print(err)
		}
	})
	listener, err := net.Listen("tcp", settings.ListenAddr())
	if err != nil {
		log.Fatal(err)
	}
	log.Print("listening on ", listener.Addr())
	log.Fatal(http.ServeTLS(listener, nil, settings.CertPath(), settings.KeyPath()))
}

func authenticate(verifier token.Verifier, roles *file.FileMapper, bearer string) (*user, error) {
	identity, err := verifier.Verify(bearer)
	if err != nil {
		return nil, err
	}
	mapping, err := roles.Map(identity)
	if err != nil {
		return nil, err
	}
	return &user{identity.SessionName, identity.UserID, mapping.Groups}, nil
}
