import { Component, type ReactNode } from 'react';
import { t } from '../text/text';
import { Button } from './button';
import { Empty } from './states';

interface BoundaryProps {
  children: ReactNode;
  /** A new key, such as another address, resets the error. */
  resetKey: string;
}

/** Error boundary of a screen: other screens and the navigation keep working. */
export class ProblemBoundary extends Component<BoundaryProps, { fault: Error | null }> {
  override state = { fault: null as Error | null };

  static getDerivedStateFromError(fault: Error) {
    return { fault };
  }

  override componentDidUpdate(before: BoundaryProps): void {
    if (before.resetKey !== this.props.resetKey && this.state.fault) this.setState({ fault: null });
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (!fault) return this.props.children;
    return (
      <div role="alert">
        <Empty
          title={t.state.broken}
          hint={t.state.brokenHint}
          action={
            <>
              <code>{fault.message}</code>
              <Button onClick={() => window.location.reload()}>{t.state.reload}</Button>
            </>
          }
        />
      </div>
    );
  }
}
