import { useState } from 'preact/hooks'
import { isName } from '../../../../core/src/forms.ts'
import { Code } from '../../components/code.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { DocumentationLink } from '../../components/documentationlink.tsx'
import { SelectField } from '../../components/forms/selectfield.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { type Connected, connectCommand, type How } from './ways.ts'

const WAYS: readonly (readonly [how: How, words: string, hint: string])[] = [
  [
    'flags',
    'With flags of its API server',
    'It asks keyplane about each request: access keys and their scopes hold there.',
  ],
  [
    'eks',
    'Amazon EKS',
    'The role of keyplane asks its service accounts for tokens. Nothing is stored, and scopes do not hold there.',
  ],
  ['accounts', 'With service accounts', 'For clusters whose flags you cannot set. Scopes do not hold there.'],
]

const PLATFORMS = [['', 'Any'], ...['kubeadm', 'k3s', 'rke2', 'talos'].map((one) => [one, one] as const)] as const

const EMPTY: Connected = { how: 'flags', name: '', file: '~/.kube/config', platform: '', eks: '', region: '' }

/** Shows the command that connects a cluster. */
export function ConnectDialog({ onClose }: { onClose(): void }) {
  const [given, setGiven] = useState(EMPTY)
  const { how, name, file, region } = given
  const set = (part: Partial<Connected>) => setGiven((before) => ({ ...before, ...part }))
  const text = (member: 'name' | 'file' | 'eks' | 'region', label: string, hint?: string) => (
    <TextField label={label} hint={hint} value={given[member]} onInput={(value) => set({ [member]: value })} />
  )
  const isComplete = isName(name.trim()) && file.trim() !== '' && (how !== 'eks' || region.trim() !== '')
  return (
    <Dialog title="Connect a cluster" onClose={onClose} isWide>
      <SelectField
        label="How"
        hint={WAYS.find(([one]) => one === how)?.[2]}
        value={how}
        options={WAYS.map(([one, words]) => [one, words])}
        onChange={(one: How) => set({ how: one })}
      />
      {text('name', 'Name', 'Scopes and tokens name the cluster so.')}
      {text('file', 'Its kube config, on your machine')}
      {how === 'flags' && (
        <SelectField
          label="Control plane"
          value={given.platform}
          options={PLATFORMS}
          onChange={(platform: string) => set({ platform })}
        />
      )}
      {how === 'eks' && text('eks', 'Name in Amazon EKS, if it is another')}
      {how === 'eks' && text('region', 'Region', 'Such as eu-west-1.')}
      {isComplete ? (
        <Code title="Run it where the kube config is" text={connectCommand(given)} />
      ) : (
        <p class="hint">The command comes when the fields are filled.</p>
      )}
      <p class="hint">
        It says what it does, and may be repeated. See{' '}
        <DocumentationLink page={how === 'eks' ? 'first-eks-cluster' : 'first-connected-cluster'} />.
      </p>
      <div class="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
