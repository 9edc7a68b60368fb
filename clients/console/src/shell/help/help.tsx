import { type DocumentationPage, documentation } from '../../../../core/src/documentation.ts'
import { Dialog } from '../../components/dialog.tsx'
import { DocumentationLink } from '../../components/documentationlink.tsx'
import { showAgain } from '../../components/getstarted/remembered.ts'
import { hrefOf } from '../../text/routes.ts'
import { shortcuts } from '../../text/shortcuts.ts'

/** The version of the deployment, which serves its own console. The build inserts it. */
declare const KEYPLANE_VERSION: string

/** Shows the documentation, the shortcuts, and the way to what a person needs in a hurry or at first. */
export const Help = ({ onClose }: { onClose(): void }) => (
  <Dialog title="Help" onClose={onClose}>
    <a class="button" href={hrefOf('whose')} onClick={onClose}>
      Report a leak
    </a>
    <a
      class="button"
      href={hrefOf('overview')}
      onClick={() => {
        showAgain()
        // The overview may be the page that is shown: then it is drawn again.
        window.dispatchEvent(new Event('hashchange'))
        onClose()
      }}
    >
      Get started
    </a>
    <details>
      <summary>Documentation</summary>
      <p>These pages are part of keyplane {KEYPLANE_VERSION}, from which this server was deployed.</p>
      <ul class="documentation">
        {(Object.keys(documentation) as DocumentationPage[]).map((page) => (
          <li key={page}>
            <DocumentationLink page={page} />
          </li>
        ))}
      </ul>
    </details>
    <details>
      <summary>Keyboard shortcuts</summary>
      <dl class="pairs">
        {Object.values(shortcuts).map(({ keys, title }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
    </details>
    <div class="actions">
      <span class="muted">keyplane {KEYPLANE_VERSION}</span>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  </Dialog>
)
