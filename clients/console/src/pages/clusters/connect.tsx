import { useState } from 'preact/hooks'
import { isName } from '../../../../core/src/forms.ts'
import { prefixOf } from '../../../../core/src/projects.ts'
import { Code } from '../../components/code.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { DocumentationLink } from '../../components/documentationlink.tsx'
import { SelectField } from '../../components/forms/selectfield.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { useSession } from '../../session/session.ts'
import { type ClusterKind, VIRTUAL } from './kinds.ts'
import { connectCommand, type How, isTeam, registerCommands, trimmed } from './ways.ts'

const WAYS: readonly (readonly [how: How, words: string, hint: string])[] = [
  ['flags', 'With flags of its API server', 'It asks keyplane about each request: keys and their scopes hold there.'],
  ['eks', 'Amazon EKS', 'The role of keyplane asks for tokens: nothing is stored, and scopes do not hold there.'],
  ['accounts', 'With service accounts', 'For clusters whose flags you cannot set. Scopes do not hold there.'],
]

const PLATFORMS = [['', 'Any'], ...['kubeadm', 'k3s', 'rke2', 'talos'].map((one) => [one, one] as const)] as const

const EMPTY = { name: '', file: '', platform: '', eks: '', region: '', project: '', team: '' }

/** Shows the command that connects a cluster, or registers a virtual cluster. */
export function ConnectDialog({ kind, onClose }: { kind: ClusterKind; onClose(): void }) {
  const { self } = useSession()
  const [how, choose] = useState<How>('flags')
  const isVirtual = kind === VIRTUAL
  // That of a virtual cluster is another one than that with which kubectl asks keyplane.
  const [given, setGiven] = useState({ ...EMPTY, ...(!isVirtual && { file: '~/.kube/config' }) })
  const text = (member: keyof typeof given, label: string, hint?: string) => (
    <TextField
      label={label}
      hint={hint}
      value={given[member]}
      onInput={(value) => setGiven((before) => ({ ...before, [member]: value }))}
    />
  )
  const texts = trimmed(given)
  const isComplete =
    isName(texts.name) &&
    texts.file !== '' &&
    (isVirtual ? isName(texts.project) && isTeam(texts.team) : how !== 'eks' || texts.region !== '')
  return (
    <Dialog title={`Connect a ${isVirtual ? kind.noun : 'cluster'}`} onClose={onClose} isWide>
      {isVirtual ? (
        <>
          {text('project', 'Project')}
          {text('name', 'Name', 'Scopes name it PROJECT/NAME.')}
          {text('team', 'Team that owns it')}
        </>
      ) : (
        <>
          <SelectField
            label="How"
            hint={WAYS.find(([one]) => one === how)?.[2]}
            value={how}
            options={WAYS.map(([one, words]) => [one, words])}
            onChange={(one: How) => choose(one)}
          />
          {text('name', 'Name', 'Scopes and tokens name the cluster so.')}
          {how === 'flags' && (
            <SelectField
              label="Control plane"
              value={given.platform}
              options={PLATFORMS}
              onChange={(platform: string) => setGiven({ ...given, platform })}
            />
          )}
          {how === 'eks' && text('eks', 'Name in Amazon EKS, if it is another')}
          {how === 'eks' && text('region', 'Region', 'Such as eu-west-1.')}
        </>
      )}
      {text('file', 'Its kube config, on your machine')}
      {isComplete ? (
        <Code
          title={isVirtual ? 'Run it where kubectl uses this server' : 'Run it where the kube config is'}
          text={isVirtual ? registerCommands(texts, prefixOf(self)) : connectCommand({ how, ...texts })}
        />
      ) : (
        <p class="hint">The command comes when the fields are filled.</p>
      )}
      <p class="hint">
        {!isVirtual && 'It says what it does, and may be repeated. '}
        See <DocumentationLink page={how === 'eks' ? 'first-eks-cluster' : kind.docs} />.
      </p>
      <div class="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
