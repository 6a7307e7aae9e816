/** MCP Apps: views that hosts show beside the results of tools (`io.modelcontextprotocol/ui`). */
export { apps, appsIdentifier, appTool, canShowViews, view, viewMimeType } from './extension/apps.ts'
export type {
  Apps,
  AppToolOptions,
  ToolAudience,
  ViewConfig,
  ViewOrigins,
  ViewReader,
  ViewSettings,
} from './extension/apps.ts'
