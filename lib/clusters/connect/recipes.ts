/**
 * Writes what an administrator of a cluster gives to each platform, so that its kube-apiserver reads the files of clusterfiles.ts: in its
 * own configuration, or as steps to take. Sources: kubeadm.k8s.io/v1beta4; docs.k3s.io, docs.rke2.io, the configuration v1alpha1 of Talos,
 * and values.schema.json of the chart of vCluster.
 */
import { dumpYaml } from '../../engine/meta/encoding/yaml.ts'
import type { JsonValue } from '../../engine/meta/types.ts'
import {
  ACCESS_KEY,
  AUTHORIZATION,
  authorizers,
  type ClusterFilesOptions,
  clusterFiles,
  clusterFlags,
} from './clusterfiles.ts'

export const platforms = ['kubeadm', 'k3s', 'rke2', 'talos', 'vcluster'] as const
export type Platform = (typeof platforms)[number]

export interface TextFile {
  name: string
  text: string
}

export interface Recipe {
  /** Files without a secret. */
  files: TextFile[]
  /** The file with the key with which the cluster sends its reviews. */
  key: { name: string; text(value: string): Promise<string> }
  /** What the administrator of the cluster does next, one step an item. */
  steps: string[]
}

export interface RecipeOptions extends Omit<ClusterFilesOptions, 'directory'> {
  /** On the control plane, without a trailing slash. By default that of the platform. */
  directory?: string | undefined
  /** Where the files are written here, as a shell reads it. */
  folder: string
  /** Names the objects for this cluster where there may be several: letters, digits and -. */
  label: string
}

/** Returns the directory of the files on the control plane. Of the file system of Talos, only `/var` can be written. */
const directoryOf = ({ directory }: RecipeOptions, platform: Platform | undefined): string =>
  directory ?? (platform === 'talos' ? '/var/lib/keyplane' : '/etc/kubernetes/keyplane')

/** Returns the recipe of a platform, or that for any kube-apiserver whose flags can be set. */
export function recipeFor(platform: Platform | undefined, options: RecipeOptions): Promise<Recipe> {
  const known = { ...options, directory: directoryOf(options, platform) }
  if (platform === 'talos') return talos(known)
  if (platform === 'vcluster') return vcluster(known)
  return nodes(platform, known)
}

type Known = RecipeOptions & { directory: string }

const yamlFiles = (options: Known): Promise<TextFile[]> =>
  Promise.all(clusterFiles(options).map(async ({ name, content }) => ({ name, text: await dumpYaml(content) })))

/** Returns the flags as pairs of a name and a value. */
const flagPairs = (options: Known): [string, string][] =>
  clusterFlags(options).map((flag) => {
    const [name = '', ...value] = flag.slice('--'.length).split('=')
    return [name, value.join('=')]
  })

const indented = (text: string): string => text.trimEnd().replace(/^/gm, '     ')

/** The platforms on whose nodes the files are copied. */
async function nodes(platform: Exclude<Platform, 'talos' | 'vcluster'> | undefined, options: Known): Promise<Recipe> {
  const { folder, directory } = options
  return {
    files: await yamlFiles(options),
    key: { name: ACCESS_KEY, text: async (value) => value },
    steps: [
      `Copy ${folder} to ${directory} on every control plane node, where only root may read it, and remove it here.`,
      ...(await nodeSteps[platform ?? 'flags'](options)),
    ],
  }
}

/** What each platform does with the folder on a node. */
const nodeSteps = {
  flags: async (options: Known) => [
    `Give these flags to kube-apiserver, in place of --oidc-* and --authorization-mode, and restart it:\n${indented(clusterFlags(options).join('\n'))}`,
  ],
  kubeadm: async (options: Known) => {
    const { directory } = options
    const apiServer = {
      extraArgs: flagPairs(options).map(([name, value]) => ({ name, value })),
      extraVolumes: [{ name: 'keyplane', hostPath: directory, mountPath: directory, readOnly: true }],
    }
    return [
      `Add this to the ClusterConfiguration (kubeadm.k8s.io/v1beta4), without --oidc-* and --authorization-mode:\n${indented(await dumpYaml({ apiServer }))}`,
      'On each node: kubeadm init phase control-plane apiserver --config FILE',
    ]
  },
  k3s: (options: Known) => serverSteps('k3s', 'k3s', {}, options),
  rke2: (options: Known) => {
    const mount = `${options.directory}:${options.directory}:ro`
    return serverSteps('rke2', 'rke2-server', { 'kube-apiserver-extra-mount': [mount] }, options)
  },
}

/** Both give kube-apiserver `--authorization-mode` themselves, and leave it out for these files since these releases. */
async function serverSteps(name: string, unit: string, more: Record<string, JsonValue>, options: Known) {
  const config = { 'kube-apiserver-arg': flagPairs(options).map((pair) => pair.join('=')), ...more }
  return [
    `Add this to /etc/rancher/${name}/config.yaml on each server, from 1.30.12, 1.31.8, 1.32.4 or 1.33 on, without oidc-* and authorization-mode:\n${indented(await dumpYaml(config))}`,
    `On each server, one after another: systemctl restart ${unit}`,
  ]
}

/**
 * kube-apiserver runs as a user of its own there, so its files are for all to read. Talos writes the authorizers to a file of its own, and
 * keeps their order.
 */
async function talos(options: Known): Promise<Recipe> {
  const { directory, folder } = options
  const file = ({ name, text }: TextFile): JsonValue => ({
    content: text,
    permissions: 0o444,
    path: `${directory}/${name}`,
    op: 'create',
  })
  const files = (await yamlFiles(options)).filter(({ name }) => name !== AUTHORIZATION)
  const extraArgs = Object.fromEntries(flagPairs(options).filter(([name]) => name !== 'authorization-config'))
  const patch = {
    machine: { files: files.map(file) },
    cluster: {
      apiServer: {
        extraArgs,
        extraVolumes: [{ hostPath: directory, mountPath: directory, readonly: true }],
        authorizationConfig: authorizers(options),
      },
    },
  }
  const text = async (value: JsonValue) => (await dumpYaml(value)).replaceAll(/(permissions: )292$/gm, '$10o444')
  const [own, key] = ['talos.yaml', 'talos-access-key.yaml']
  return {
    files: [{ name: own, text: await text(patch) }],
    key: { name: key, text: (value) => text({ machine: { files: [file({ name: ACCESS_KEY, text: value })] } }) },
    steps: [
      `Patch the control plane nodes once, from Talos 1.9 on (a second patch would add everything again):\n     talosctl patch machineconfig --nodes NODES --patch @${folder}/${own} --patch @${folder}/${key}`,
      `Remove ${folder}/${key}.`,
    ],
  }
}

/**
 * vCluster always gives kube-apiserver `--authorization-mode`, with which it refuses `--authorization-config`, unless one of the extra
 * arguments has this name. Here it is the value of another flag.
 */
const WITHOUT_MODE = ['--disabled-metrics', '--authorization-mode']

const WHY_WITHOUT_MODE = `# The last two arguments are one flag: they disable a metric that does not exist. vCluster takes its name for a flag, and so leaves out its
# own --authorization-mode, which excludes --authorization-config.
`

async function vcluster(options: Known): Promise<Recipe> {
  const { directory, folder, label } = options
  const [config, secret] = [`keyplane-${label}`, `keyplane-${label}-access-key`]
  const data = Object.fromEntries((await yamlFiles(options)).map(({ name, text }) => [name, text]))
  const values = {
    controlPlane: {
      distro: { k8s: { enabled: true, apiServer: { extraArgs: [...clusterFlags(options), ...WITHOUT_MODE] } } },
      statefulSet: {
        persistence: {
          addVolumes: [
            {
              name: 'keyplane',
              projected: { sources: [{ configMap: { name: config } }, { secret: { name: secret } }] },
            },
          ],
          addVolumeMounts: [{ name: 'keyplane', mountPath: directory, readOnly: true }],
        },
      },
    },
  }
  const object = (kind: string, name: string, more: { [member: string]: JsonValue }) =>
    dumpYaml({ apiVersion: 'v1', kind, metadata: { name }, ...more })
  const [own, files, key] = ['vcluster.yaml', 'files.yaml', 'access-key.yaml']
  return {
    files: [
      { name: own, text: `${WHY_WITHOUT_MODE}${await dumpYaml(values)}` },
      { name: files, text: await object('ConfigMap', config, { data }) },
    ],
    key: { name: key, text: (value) => object('Secret', secret, { stringData: { [ACCESS_KEY]: value } }) },
    steps: [
      `In the namespace of the virtual cluster: kubectl apply --namespace NAMESPACE -f ${folder}/${files} -f ${folder}/${key}`,
      `Remove ${folder}/${key}.`,
      `Add the values to yours (their lists replace those of other files): vcluster create NAME --namespace NAMESPACE --upgrade --values ${folder}/${own}`,
    ],
  }
}
