/** Lists the commands, in the order of the help. */
import type { Command, Section } from '../arguments/command.ts'
import { advise } from './advise.ts'
import { clustersCheck } from './clusters/check.ts'
import { clustersConnect } from './clusters/connect.ts'
import { clustersCreate } from './clusters/create.ts'
import { clustersDisconnect } from './clusters/disconnect.ts'
import { clustersEdit } from './clusters/edit.ts'
import { clustersList } from './clusters/list.ts'
import { clustersShow } from './clusters/show.ts'
import { clustersWho, virtualClustersWho } from './clusters/who.ts'
import { completion } from './completion.ts'
import { contexts, use } from './contexts.ts'
import { credential } from './credential.ts'
import { explain } from './explain.ts'
import { history } from './history.ts'
import { keysCreate } from './keys/create.ts'
import { keysDelete } from './keys/delete.ts'
import { keysDisable } from './keys/disable.ts'
import { keysEdit } from './keys/edit.ts'
import { keysEnable } from './keys/enable.ts'
import { keysList } from './keys/list.ts'
import { keysShow } from './keys/show.ts'
import { kubeconfig } from './kubeconfig.ts'
import { login } from './login.ts'
import { logout } from './logout.ts'
import { commandsOf } from './objects/commands.ts'
import { trustsCreate } from './objects/createtrust.ts'
import { providers, trusts, virtualClusters } from './objects/kinds.ts'
import { reportLeak } from './reportleak.ts'
import { revoke } from './revoke.ts'
import { rotate } from './rotate.ts'
import { run } from './run.ts'
import { token } from './token.ts'
import { usage } from './usage.ts'
import { whoami } from './whoami.ts'
import { whose } from './whose.ts'

export const sections: readonly Section[] = [
  { title: 'Logging in', commands: [login, whoami, contexts, use, logout, completion] },
  { title: 'Access keys', commands: [keysList, keysCreate, keysShow, keysEdit, keysDisable, keysEnable, keysDelete] },
  { title: 'Running a command with a narrow key', commands: [run] },
  { title: 'What a key needs', commands: [usage, advise] },
  { title: 'Lifecycle of a key', commands: [history, rotate, revoke, explain, whose, reportLeak] },
  { title: 'Clusters', commands: [kubeconfig, token, credential] },
  {
    title: 'Connected clusters',
    commands: [
      clustersList,
      clustersShow,
      clustersWho,
      clustersConnect,
      clustersCheck,
      clustersCreate,
      clustersEdit,
      clustersDisconnect,
    ],
  },
  { title: 'Virtual clusters', commands: [...commandsOf(virtualClusters), virtualClustersWho] },
  { title: 'Trusts and identity providers', commands: [trustsCreate, ...commandsOf(trusts), ...commandsOf(providers)] },
]

export const commands: readonly Command[] = sections.flatMap((section) => section.commands)
