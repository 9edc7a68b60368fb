import { useState } from 'preact/hooks'
import { opens } from '../../../../core/src/accessrules.ts'
import type { Cluster, VirtualCluster } from '../../../../core/src/objects.ts'
import { Code } from '../../components/code.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ChangeForm } from '../../components/forms/changeform.tsx'
import { DeleteDialog } from '../../components/forms/deletedialog.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { useChange } from '../../components/hooks/usechange.ts'
import { useNotify } from '../../session/notices.ts'
import { useSession } from '../../session/session.ts'
import { holdsValue, LIKE_VALUE } from '../../text/keyvalue.ts'
import { shellWord } from '../../text/kubectl.ts'
import { hrefOf } from '../../text/routes.ts'
import { type ClusterKind, CONNECTED } from './kinds.ts'

export interface ClusterDialogProps {
  action: 'access' | 'delete'
  kind: ClusterKind
  object: VirtualCluster & Cluster
  path: string
  /** The name of the object in the cache of the session. */
  data: string
  refresh(): unknown
  onClose(): void
}

/** Changes who may use a cluster, or deletes its object. */
export function ClusterDialog({ action, ...props }: ClusterDialogProps) {
  if (action === 'access') return <AccessDialog {...props} />
  const { kind, object, data, ...deletion } = props
  const { metadata } = object
  return (
    <DeleteDialog
      word={kind.deletion.word}
      noun={kind === CONNECTED ? 'cluster' : kind.noun}
      metadata={metadata}
      shownIn={[`${kind.page} `, data]}
      list={hrefOf(kind.page)}
      {...deletion}
    >
      <p>{kind.deletion.loss}</p>
      {kind === CONNECTED && (
        <Code
          title="What remains in the cluster"
          text={`keyplane clusters disconnect ${shellWord(metadata.name)} --dry-run\n`}
        />
      )}
    </DeleteDialog>
  )
}

/** Everyone who may see the cluster sees the names, so a secret is none. */
const wrongIn = (text: string): string | undefined => (holdsValue(text) ? LIKE_VALUE : undefined)

const namesIn = (text: string): string[] => text.split(/[,\s]+/).filter((name) => name !== '')

/** Rules that only let people see the cluster stay. */
function AccessDialog({ object: { metadata, spec = {} }, path, refresh, onClose }: Omit<ClusterDialogProps, 'action'>) {
  const { api } = useSession()
  const notify = useNotify()
  const { name, uid, resourceVersion } = metadata
  const rules = spec.access ?? []
  const using = rules.filter(opens)
  const [teams, setTeams] = useState([...new Set(using.flatMap((rule) => rule.teams ?? []))].join(', '))
  const [users, setUsers] = useState([...new Set(using.flatMap((rule) => rule.users ?? []))].join(', '))
  const rule = {
    verbs: ['get', 'list', 'watch', 'use'],
    ...(namesIn(teams).length > 0 && { teams: namesIn(teams) }),
    ...(namesIn(users).length > 0 && { users: namesIn(users) }),
  }
  const access = [...rules.filter((one) => !opens(one)), ...(rule.teams || rule.users ? [rule] : [])]
  const change = useChange(
    () => api.send(path, { method: 'PATCH', body: { metadata: { uid, resourceVersion }, spec: { access } } }),
    async () => {
      onClose()
      notify({ tone: 'good', text: `Who may use ${name} was changed.` })
      await refresh()
    },
  )
  return (
    <Dialog title={`Who may use ${name}`} onClose={onClose}>
      <p>They get kube configs of it, as administrators do. Whom you remove gets none any more.</p>
      <ChangeForm
        change={change}
        word="Save"
        busyWord="Saving…"
        onSubmit={() => void (wrongIn(`${teams} ${users}`) ?? change.run())}
        onClose={onClose}
      >
        <TextField
          label="Teams"
          hint="Separate names by commas."
          error={wrongIn(teams)}
          value={teams}
          onInput={setTeams}
        />
        <TextField label="Users" error={wrongIn(users)} value={users} onInput={setUsers} />
      </ChangeForm>
    </Dialog>
  )
}
