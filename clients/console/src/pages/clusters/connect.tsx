import { useState } from 'preact/hooks'
import { isName } from '../../../../core/src/forms.ts'
import { Code } from '../../components/code.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { DocumentationLink } from '../../components/documentationlink.tsx'
import { SelectField } from '../../components/forms/selectfield.tsx'
import { TextField } from '../../components/forms/textfield.tsx'
import { connectCommand, type How } from './ways.ts'

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

/** Shows the command that connects a cluster. */
export function ConnectDialog({ onClose }: { onClose(): void }) {
  const [how, choose] = useState<How>('flags')
  const [name, setName] = useState('')
  const [file, setFile] = useState('~/.kube/config')
  const [region, setRegion] = useState('')
  const [eks, setEks] = useState('')
  const isComplete = isName(name) && file.trim() !== '' && (how !== 'eks' || region.trim() !== '')
  return (
    <Dialog title="Connect a cluster" onClose={onClose} isWide>
      <SelectField
        label="How"
        hint={WAYS.find(([one]) => one === how)?.[2]}
        value={how}
        options={WAYS.map(([one, words]) => [one, words])}
        onChange={(one: How) => choose(one)}
      />
      <TextField label="Name" hint="Scopes and tokens name the cluster so." value={name} onInput={setName} />
      <TextField label="Its kube config, on your machine" value={file} onInput={setFile} />
      {how === 'eks' && <TextField label="Name in Amazon EKS, if it is another" value={eks} onInput={setEks} />}
      {how === 'eks' && <TextField label="Region" hint="Such as eu-west-1." value={region} onInput={setRegion} />}
      {isComplete ? (
        <Code
          title="Run it where the kube config is"
          text={connectCommand(how, name, file.trim(), { eks: eks.trim() || name, region: region.trim() })}
        />
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
