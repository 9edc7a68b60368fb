import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type DocumentationPage, documentation } from '../../../../core/src/documentation.ts'
import { Dialog } from '../../components/dialog.tsx'
import { DocumentationLink } from '../../components/documentationlink.tsx'
import { hrefOf } from '../../text/routes.ts'
import { shortcuts } from '../../text/shortcuts.ts'
import { version } from './version.ts'

const MENU = 'Help'
const DOCUMENTATION = 'Documentation'
const SHORTCUTS = 'Keyboard shortcuts'

/** Shows the menu of the help, or what was chosen in it. */
export function Help({ onClose }: { onClose(): void }) {
  const [shown, show] = useState(MENU)
  return (
    // Each is a dialog of its own, which takes the focus.
    <Dialog title={shown} onClose={onClose} key={shown}>
      {shown === MENU && (
        <ul class="help">
          {[DOCUMENTATION, SHORTCUTS].map((one) => (
            <li key={one}>
              <button type="button" onClick={() => show(one)}>
                {one}
              </button>
            </li>
          ))}
          {Object.entries({ whose: 'Report a leak', 'get-started': 'Get started' }).map(([page, title]) => (
            <li key={page}>
              <a class="button" href={hrefOf(page)} onClick={onClose}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      )}
      {shown === DOCUMENTATION && (
        <>
          <p>These pages are part of keyplane {version}, from which this server was deployed.</p>
          <ul class="documentation">
            {(Object.keys(documentation) as DocumentationPage[]).map((page) => (
              <li key={page}>
                <DocumentationLink page={page} />
              </li>
            ))}
          </ul>
        </>
      )}
      {shown === SHORTCUTS && (
        <dl class="pairs">
          {Object.values(shortcuts).map(({ keys, title }) => (
            <Pair name={<kbd>{keys}</kbd>} text={title} key={keys} />
          ))}
        </dl>
      )}
      <div class="actions">
        <span class="muted">keyplane {version}</span>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

const Pair = ({ name, text }: { name: ComponentChildren; text: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{text}</dd>
  </div>
)
