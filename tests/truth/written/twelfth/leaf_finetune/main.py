from callbacks import Plateau, Printer, Smoother
from data import LeafTable, holdout
from trainer import Trainer


def main():
    lr = 0.3
    smooth = Smoother()
    t = Trainer(lr, [Plateau(lr), smooth, Printer()])
    t.fit(LeafTable(88, 16, seed=1), holdout(), epochs=6)
    print(f"smoothed {smooth.value:.4f}")


if __name__ == "__main__":
    main()
