//! Jumps that leave an expression.

use syn::visit::{Visit, visit_expr};
use syn::{Expr, Ident, Lifetime};

/// Whether the expression jumps to a label outside of it.
pub(super) fn leaves_by_label(expression: &Expr) -> bool {
    let mut jumps = Jumps::default();
    jumps.visit_expr(expression);
    jumps.leave
}

#[derive(Default)]
struct Jumps<'a> {
    /// The labels around the visited expression.
    labels: Vec<&'a Ident>,
    /// Whether a jump to another label was found.
    leave: bool,
}

impl<'a> Jumps<'a> {
    fn jump(&mut self, label: Option<&Lifetime>) {
        self.leave |= label.is_some_and(|label| !self.labels.contains(&&label.ident));
    }
}

impl<'a> Visit<'a> for Jumps<'a> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        let label = match expression {
            Expr::Loop(repeat) => &repeat.label,
            Expr::While(repeat) => &repeat.label,
            Expr::ForLoop(repeat) => &repeat.label,
            Expr::Block(block) => &block.label,
            Expr::Break(jump) => {
                self.jump(jump.label.as_ref());
                &None
            }
            Expr::Continue(jump) => {
                self.jump(jump.label.as_ref());
                &None
            }
            _ => &None,
        };
        let outer = self.labels.len();
        self.labels.extend(label.as_ref().map(|label| &label.name.ident));
        visit_expr(self, expression);
        self.labels.truncate(outer);
    }
}
