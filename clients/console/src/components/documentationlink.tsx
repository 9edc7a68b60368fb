/** Leads to a page of the documentation, which the deployment serves beside the console. */
import { type DocumentationPage, documentation, documentationPath } from '../../../core/src/documentation.ts'

/** Opens in another tab: the session of this one would end. */
export const DocumentationLink = ({ page }: { page: DocumentationPage }) => (
  <a href={documentationPath(page)} target="_blank" rel="noopener">
    {documentation[page]}
  </a>
)
