/**
 * Writes what programs need to use a stored key. No text has the value of the key: each names the secret, or the file beside it. The
 * texts are those of docs/ci.md and examples/terraform.
 */
import { deploymentName } from '../../../../lib/clusters/deployment.ts'
import { shellWord } from './kubectl.ts'
import { toYaml } from './yaml.ts'

export interface Snippet {
  title: string
  text: string
}

/** Returns the snippets for the API at the URL. */
export function keySnippets(url: string): Snippet[] {
  const yamlUrl = toYaml(url).trimEnd()
  const name = toYaml(deploymentName(url)).trimEnd()
  return [
    {
      title: 'GitHub Actions',
      text: `jobs:
  deploy:
    runs-on: ubuntu-latest
    steps:
      - uses: OWNER/keyplane/clients/action@COMMIT
        with:
          url: ${yamlUrl}
          key: \${{ secrets.KEYPLANE_KEY }}
      - run: kubectl get ownedaccesskeys
`,
    },
    {
      title: 'GitLab CI',
      text: `include:
  - remote: https://raw.githubusercontent.com/OWNER/keyplane/COMMIT/clients/gitlab/templates/kubeconfig.yml
    inputs:
      url: ${yamlUrl}
deploy:
  extends: .keyplane
  script:
    - kubectl get ownedaccesskeys
`,
    },
    {
      title: 'curl',
      text: `{ printf 'Authorization: Bearer '; cat keyplane.key; } |
  curl -sS --fail-with-body -H @- -H 'Content-Type: application/json' -d '{}' \\
  ${shellWord(`${url}/apis/management.platform/v1/selves`)}
`,
    },
    {
      title: 'kubectl',
      text: `apiVersion: v1
kind: Config
clusters:
  - name: ${name}
    cluster:
      server: ${yamlUrl}
users:
  - name: ${name}
    user:
      tokenFile: keyplane.key
contexts:
  - name: ${name}
    context:
      cluster: ${name}
      user: ${name}
current-context: ${name}
`,
    },
    {
      title: 'Terraform',
      text: `variable "access_key" {
  type      = string
  sensitive = true
}

provider "kubernetes" {
  host  = ${JSON.stringify(url)}
  token = var.access_key
}
`,
    },
  ]
}
